// Reports instructions that a program executed although the CPU model lacks them (--cpu-model).
#pragma once

#include "tally/output/result/stat_result.hpp"

namespace tally::why {

/// Names the functions of `stat.unasked`, replaces offsets in files by addresses, and adds a notice for each entry.
void report_unasked(result::Stat& stat);
/// Adds a notice that names the processor that the program saw and the simulated machine. `tally stat` names both in
/// its last line.
void report_models(result::Stat& stat);

}  // namespace tally::why
