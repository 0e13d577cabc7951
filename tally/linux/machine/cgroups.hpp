// Control groups, as what is counted.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Opens a control group by which perf_event_open(2) can count: a folder below the mounted hierarchy that counting goes
/// by (cgroup2, or the old one of perf_event), named from there as in /proc/PID/cgroup, or by its full path. Errors:
/// cannot_measure where no such hierarchy is mounted, or where it has no such group.
Result<Descriptor> open_cgroup(const std::string& path);

}  // namespace tally::linux
