// Units that counts come in.
#pragma once

#include <chrono>
#include <cstdint>

namespace tally {

/// A length of time; the unit of every time in tally.
using Nanoseconds = std::chrono::nanoseconds;

/// What one of a count is.
enum class Unit {
  events,       ///< occurrences
  nanoseconds,  ///< time
  bytes,        ///< memory
};

}  // namespace tally
