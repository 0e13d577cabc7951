// The events of Apple's M1, as found by reverse engineering.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tally/hardware/pmu/register.hpp"

namespace tally::pmu::apple {

/// The counters that can count most events: PMC2 to PMC9.
inline constexpr std::uint16_t any_counter = 0x3FC;

/// An event of the M1. Apple does not document them; names and counters are findings of others.
struct Event {
  std::uint8_t code = 0;
  std::string_view linux_name;           ///< in Linux's driver; may be empty
  std::string_view framework_name;       ///< in the M1 PMU framework; several are separated by spaces; may be empty
  std::string_view what;                 ///< what its name suggests that it counts; empty if unknown
  std::uint16_t counters = any_counter;  ///< bit n: PMCn counts it, according to the newest Linux driver
  std::uint16_t observed = 0;            ///< the same according to others; 0: as `counters`
};

/// All known events, by code.
std::span<const Event> events();

/// Finds an event by code; null if unknown.
const Event* find_event(std::uint8_t code);

/// The sources of the names and counters.
inline constexpr Source linux_driver{"Linux", "drivers/perf/apple_m1_cpu_pmu.c"};
inline constexpr Source framework{"M1 PMU framework (UNCSecLab)", "README, M1 Performance Events"};
inline constexpr Source observations{"older Linux; m1-pmu-gen; results of the M1 PMU framework",
                                     "counters of events 96H and 9BH"};

}  // namespace tally::pmu::apple
