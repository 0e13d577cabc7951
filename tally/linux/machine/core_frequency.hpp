// Measures the frequency of a core without a performance counter.
#pragma once

#include <optional>

namespace tally::linux {

/// Returns the frequency in hertz of the CPU that executes the calling thread now: it times a chain of 10,000 dependent
/// additions of registers, each of which takes one cycle, `tries` times, and takes the fastest. Additions of constants
/// would be too fast: recent cores compute these before execution. Nothing on other architectures than x86-64 and
/// AArch64. Cost: some 3 µs for each try.
std::optional<double> core_hertz(int tries);

}  // namespace tally::linux
