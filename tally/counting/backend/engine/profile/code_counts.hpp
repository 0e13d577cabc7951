// The logs of code, with the counters that belong to them, as counts of instructions.
#pragma once

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/job.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/output/result/code.hpp"

namespace tally::backend::engine {

/// What every instruction of the execution counted. `kept`: files that its code was mapped from. `counts`: the whole
/// command's, one for each event of the order. What the engine has not written, or a program has written over, is in
/// no row: CodeCounts::unplaced tells how much. Cost: about 50 ns for each instruction of each thread.
result::CodeCounts code_counts(const Job& job, const Channel& shared, const Modelling& modelling, const KeptFiles& kept,
                               const std::vector<EventCount>& counts);

}  // namespace tally::backend::engine
