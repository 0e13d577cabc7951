// Converts the code logs and their counters to counts of instructions.
#pragma once

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::engine {

/// Returns what every instruction counted. `kept`: files that its code was mapped from. `outcome`: the counts of the
/// whole command. Counts that the engine did not write, or a program overwrote, are in no
/// row; CodeCounts::unplaced has their number. Cost: about 50 ns for each instruction of each thread.
result::CodeCounts code_counts(const Order& order, const Channel& shared, const Modelling& modelling,
                               const KeptFiles& kept, const Outcome& outcome);

}  // namespace tally::backend::engine
