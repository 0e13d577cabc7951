// The time-stamp counter of x86 processors.
#pragma once

#include <cstdint>
#include <optional>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// A moment on two clocks at once.
struct Moment {
  Nanoseconds time{0};                 ///< of the monotonic clock
  std::optional<std::uint64_t> ticks;  ///< of the time-stamp counter, read right after it; x86 only
};

/// Now. Cost: some 50 ns, no system call.
Moment this_moment();

/// Time of the clock that nobody corrects (CLOCK_MONOTONIC_RAW): what counters of ticks are compared with.
Nanoseconds raw_time();

/// Whether the counter runs at one rate in all power states: CPUID 8000_0007H:EDX[8] (AMD APM vol. 3; Intel SDM vol.
/// 3B, "Invariant TSC"). False on other architectures.
bool time_stamp_is_invariant();

/// Its ticks in a second, measured against the monotonic clock over some 10 ms; nothing where there is no such counter.
std::optional<std::uint64_t> measured_time_stamp_hertz();

}  // namespace tally::linux
