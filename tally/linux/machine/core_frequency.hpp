// Measures the frequency of a core without a performance counter.
#pragma once

#include <optional>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// Returns the frequency in hertz of the CPU that executes the calling thread now: it times a chain of 10,000 dependent
/// additions of registers, each of which takes one cycle, `tries` times, and takes the fastest. Additions of constants
/// would be too fast: recent cores compute these before execution. Nothing on other architectures than x86-64 and
/// AArch64. Cost: some 3 µs for each try.
std::optional<double> core_hertz(int tries);

/// Returns the cycles per second of processor time, as the kernel charges it to this thread, while it executes such
/// chains for about `time`: less than the frequency, because interrupts and switches are charged, too.
std::optional<double> charged_hertz(Nanoseconds time);

/// Returns how long independent additions take, relative to a chain of as many: 0.25 on a core that executes four in a
/// cycle, and more if another hardware thread uses the same core now. Cost: some 9 µs.
std::optional<double> independent_time();

}  // namespace tally::linux
