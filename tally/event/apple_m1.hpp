// The events of Apple's M1, which no library has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tally::event::apple_m1 {

/// Counters by number, one bit each.
using Counters = std::uint16_t;

/// PMC2 to PMC9: where an event is counted that nothing else is known of.
inline constexpr Counters usual_counters = 0x3FC;

/// One event.
struct Line {
  std::uint8_t code;
  std::string_view linux_name;      ///< of Linux's driver, without its M1_PMU_PERFCTR_; empty where it has none
  std::string_view framework_name;  ///< of the M1 PMU framework; several separated by a blank; empty where it has none
  Counters counters;                ///< as Linux's driver places it
  Counters observed;                ///< where it was seen to count besides; 0: nothing else is known
  std::string_view what;            ///< what one count means; empty where nobody knows
};

/// All events, by code.
std::span<const Line> lines();

/// The event of this name (either of them, in upper or lower case); null where there is none.
const Line* find(std::string_view name);

/// The event of this code; null where there is none.
const Line* find(unsigned code);

}  // namespace tally::event::apple_m1
