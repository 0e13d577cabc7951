// Waiting for a moment, or for something that happens before it.
#pragma once

#include <span>

#include "tally/base/units.hpp"

namespace tally::linux {

/// Blocks until one of the descriptors is readable or at its end, or until a moment of the monotonic clock. Returns the
/// first such descriptor's place; −1 where the moment has come.
int wait_until(Nanoseconds moment, std::span<const int> descriptors);

}  // namespace tally::linux
