// Waiting for a moment, or for something that happens before it.
#pragma once

#include <span>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// What wait_until() returns where no descriptor ended it.
inline constexpr int woken_by_time = -1;
inline constexpr int woken_by_signal = -2;

/// Blocks until one of the descriptors is readable or at its end, or until a moment of the monotonic clock. Returns the
/// first such descriptor's place, or woken_by_time. `or_signal`: a signal that this process handled ends it as well.
int wait_until(Nanoseconds moment, std::span<const int> descriptors, bool or_signal = false);

}  // namespace tally::linux
