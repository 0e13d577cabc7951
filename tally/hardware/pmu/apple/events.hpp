// The events of Apple's M1, as far as anyone outside of Apple knows them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tally/hardware/pmu/register.hpp"

namespace tally::pmu::apple {

/// Counters that take any event: PMC2 to PMC9.
inline constexpr std::uint16_t any_counter = 0x3FC;

/// An event of the M1. Nobody documents them; names and counters are findings, each with its finder.
struct Event {
  std::uint8_t code = 0;
  std::string_view linux_name;           ///< in Linux's driver; empty where it has none
  std::string_view framework_name;       ///< in the M1 PMU framework; several are separated by blanks; empty: none
  std::string_view what;                 ///< what its name says one count means; empty where nobody knows
  std::uint16_t counters = any_counter;  ///< bit n: PMCn counts it, by the newest Linux driver
  std::uint16_t observed = 0;            ///< the same as others observed it; 0: as `counters`
};

/// All known events, by code.
std::span<const Event> events();

/// The event of this code; null where nothing is known of it.
const Event* find_event(std::uint8_t code);

/// Where the names and counters come from.
inline constexpr Source linux_driver{"Linux", "drivers/perf/apple_m1_cpu_pmu.c"};
inline constexpr Source framework{"M1 PMU framework (UNCSecLab)", "README, M1 Performance Events"};
inline constexpr Source observations{"older Linux; m1-pmu-gen; results of the M1 PMU framework",
                                     "counters of events 96H and 9BH"};

}  // namespace tally::pmu::apple
