// Creates static ELF files of the shipped programs for any parameters.
#pragma once

#include <string>
#include <vector>

#include "programs/workload/workload.hpp"

namespace tally::workload {

/// The memory of a program begins here; its code is at 4 MiB.
inline constexpr uint64_t memory_address = 0x10000000;

/// Why the program cannot be created with these parameters; empty if it can.
std::string why_not(const Workload& workload, const Parameters& parameters);

/// The content of the executable file. Empty if why_not() returns a reason, or if this build ships no programs.
std::string image(const Workload& workload, const Parameters& parameters);

}  // namespace tally::workload
