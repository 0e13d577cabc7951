// Waits for a time, or for an event before it.
#pragma once

#include <span>

#include "tally/core/base/units.hpp"

namespace tally::watch {

/// Results of wait_until() if no descriptor ended it.
inline constexpr int woken_by_time = -1;
inline constexpr int woken_by_signal = -2;

/// Blocks until one of the descriptors is readable or closed by its peer, or until a time of the monotonic clock.
/// Returns the index of the first such descriptor, or woken_by_time. `or_signal`: also returns after a signal that this
/// process handled.
int wait_until(Nanoseconds moment, std::span<const int> descriptors, bool or_signal = false);

}  // namespace tally::watch
