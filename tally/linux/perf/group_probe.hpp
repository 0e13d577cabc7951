// Finds out which events the kernel counts at the same time.
#pragma once

#include <vector>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// Whether the kernel counts these events of one PMU at the same time. Opens them as a group on the calling thread. The
/// kernel refuses what the PMU cannot count together, as far as it checks that; a group without enough free counters,
/// for example because of the NMI watchdog or another user's pinned events, never runs. `here`: the thread runs where
/// this PMU counts; if it may not, as on a hybrid processor, only opening decides. Also false if one of them cannot be
/// opened at all. Cost: two system calls for each event, and three.
bool counts_together(const std::vector<PerfEvent>& events, bool here = true);

}  // namespace tally::linux
