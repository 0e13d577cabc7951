// Which events the kernel counts at the same time.
#pragma once

#include <vector>

#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// Whether the kernel counts these events of one PMU at the same time. They are opened as a group on the calling
/// thread: the kernel refuses what the PMU cannot count together, as far as it checks that, and a group for which there
/// are not enough counters now, as with the NMI watchdog or another user's pinned events, never runs. `here`: the
/// thread runs where this PMU counts; where it may not, as on a processor with several kinds of cores, opening alone
/// decides. False, too, where one of them cannot be opened at all. Cost: two system calls for each event, and three.
bool counts_together(const std::vector<PerfEvent>& events, bool here = true);

}  // namespace tally::linux
