// Programs as files: what tally ships is written out as a static ELF file for any parameters.
#pragma once

#include <string>
#include <vector>

#include "tally/hardware/workload/workload.hpp"

namespace tally::workload {

/// The memory of a program starts here, its code at 4 MiB.
inline constexpr uint64_t memory_address = 0x10000000;

/// Why the program cannot be had with these parameters: empty where it can.
std::string why_not(const Workload& workload, const Parameters& parameters);

/// The program's file; executable as it stands. Empty where why_not() is not, and where this build ships no programs.
std::string image(const Workload& workload, const Parameters& parameters);

}  // namespace tally::workload
