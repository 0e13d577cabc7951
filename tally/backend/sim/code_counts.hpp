// The logs of code, with the counters that belong to them, as counts of instructions.
#pragma once

#include "tally/backend/backend.hpp"
#include "tally/backend/sim/harvest.hpp"
#include "tally/backend/sim/job.hpp"
#include "tally/backend/sim/run.hpp"
#include "tally/result/code.hpp"

namespace tally::backend::sim {

/// What every instruction of the execution counted. `kept`: files that its code was mapped from. `counts`: the whole
/// command's, one for each event of the order. What the engine has not written, or a program has written over, is in
/// no row: CodeCounts::unplaced tells how much. Cost: about 50 ns for each instruction of each thread.
result::CodeCounts code_counts(const Job& job, const Channel& shared, const Modelling& modelling, const KeptFiles& kept,
                               const std::vector<EventCount>& counts);

}  // namespace tally::backend::sim
