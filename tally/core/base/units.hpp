// The units of counts.
#pragma once

#include <chrono>
#include <cstdint>

namespace tally {

/// A length of time; the unit of every time in tally.
using Nanoseconds = std::chrono::nanoseconds;

/// The unit of a count.
enum class Unit {
  events,       ///< occurrences
  nanoseconds,  ///< time
  bytes,        ///< memory
  nanojoules,   ///< energy
};

}  // namespace tally
