// The kernel's switch for the instruction rdpmc in user mode: the file `rdpmc` of an x86 core PMU.
#pragma once

#include <cstdint>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// What the switch says: 0 nobody may, 1 who has a counter of its own mapped, 2 everybody (perf_event_open(2); 2 since
/// Linux 4.0). `root` is where sys/ lies. Errors: cannot_measure, with the errno: ENOENT where the PMU has no such
/// switch, EACCES to everybody but root.
Result<std::int64_t> read_rdpmc_switch(const std::string& root, const std::string& pmu);

/// Sets it, and looks whether it is set. Errors: cannot_measure, with what the system answered.
Result<void> write_rdpmc_switch(const std::string& root, const std::string& pmu, std::int64_t value);

}  // namespace tally::linux
