// Opens cgroups to count their events.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Opens a cgroup for perf_event_open(2): a directory in the mounted hierarchy that perf uses (cgroup2, or perf_event
/// of cgroup v1). `path` is relative to that, as in /proc/PID/cgroup, or a full path. Errors: cannot_measure if no such
/// hierarchy is mounted, or if it has no such cgroup.
Result<Descriptor> open_cgroup(const std::string& path);

}  // namespace tally::linux
