// Reads and writes model-specific registers of x86 processors through the kernel's driver (msr(4)).
#pragma once

#include <cstdint>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Reads a register of a CPU: /dev/cpu/N/msr, opened read-only. `root`: the directory that contains dev/. Errors:
/// bad_usage if there is no such CPU; cannot_measure if the driver is missing, if this user may not read it, and if the
/// processor or its hypervisor has no such register. Cost: an interrupt of that CPU.
Result<std::uint64_t> read_msr(int processor, std::uint32_t number, const std::string& root = "/");

/// Writes a register. Errors: the same, and if the kernel is locked down.
Result<void> write_msr(int processor, std::uint32_t number, std::uint64_t value, const std::string& root = "/");

}  // namespace tally::linux
