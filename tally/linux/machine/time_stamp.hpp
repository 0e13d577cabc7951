// Reads the kernel's clocks, and the time-stamp counter of x86 processors.
#pragma once

#include <cstdint>
#include <optional>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// Returns the time of the monotonic clock.
Nanoseconds now();

/// Returns the current time since 1970.
Nanoseconds time_since_1970();

/// One time on two clocks.
struct Moment {
  Nanoseconds time{0};                 ///< monotonic clock
  std::optional<std::uint64_t> ticks;  ///< time-stamp counter, read right after it; x86 only
};

/// Returns the current time. Cost: some 50 ns, no system call.
Moment this_moment();

/// Returns the time of the clock that is never adjusted (CLOCK_MONOTONIC_RAW), to compare with counters of ticks.
Nanoseconds raw_time();

/// Whether the counter has the same rate in all power states: CPUID 8000_0007H:EDX[8] (AMD APM vol. 3; Intel SDM vol.
/// 3B, "Invariant TSC"). False on other architectures.
bool time_stamp_is_invariant();

}  // namespace tally::linux
