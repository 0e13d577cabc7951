// Model-specific registers of x86 processors, through the kernel's driver (msr(4)).
#pragma once

#include <cstdint>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// What a register holds on a processor: /dev/cpu/N/msr, opened to be read alone. `root` is where dev/ lies. Errors:
/// bad_usage where there is no such processor; cannot_measure where the driver is not there, where this user may not,
/// and where the processor, or its hypervisor, has no such register. Cost: an interrupt of that processor.
Result<std::uint64_t> read_msr(int processor, std::uint32_t number, const std::string& root = "/");

/// Writes one; the same errors, and where the kernel is locked down.
Result<void> write_msr(int processor, std::uint32_t number, std::uint64_t value, const std::string& root = "/");

}  // namespace tally::linux
