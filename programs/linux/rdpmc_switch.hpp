// Reads and sets the kernel's switch for rdpmc in user mode: the file `rdpmc` of an x86 core PMU.
#pragma once

#include <cstdint>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Reads the switch: 0 forbids rdpmc, 1 allows it to processes that have mapped a counter, 2 to all
/// (perf_event_open(2); 2 since Linux 4.0). `root`: the directory that contains sys/. Errors: cannot_measure, with the
/// errno: ENOENT if the PMU has no such switch, EACCES unless root.
Result<std::int64_t> read_rdpmc_switch(const std::string& root, const std::string& pmu);

/// Sets the switch and checks that it is set. Errors: cannot_measure, with the system's error.
Result<void> write_rdpmc_switch(const std::string& root, const std::string& pmu, std::int64_t value);

}  // namespace tally::linux
