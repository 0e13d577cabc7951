// The words for units in stored results and in formats.
#pragma once

#include <string_view>

#include "tally/core/base/units.hpp"

namespace tally {

constexpr const char* unit_name(Unit unit) {
  constexpr const char* names[] = {"events", "ns", "bytes", "nJ"};
  return names[static_cast<int>(unit)];
}

/// The unit with a name; events for any other word.
constexpr Unit unit_named(std::string_view name) {
  for (const Unit unit : {Unit::nanoseconds, Unit::bytes, Unit::nanojoules})
    if (name == unit_name(unit)) return unit;
  return Unit::events;
}

}  // namespace tally
