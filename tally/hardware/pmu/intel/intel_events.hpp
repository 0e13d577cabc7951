// The Intel event codes that documents use, and what they really count. Not complete: libpfm4 has each processor's
// events. These explain a register's value on any machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tally/hardware/pmu/register.hpp"

namespace tally::pmu::intel {

/// An event code and its meaning.
struct EventCode {
  std::uint8_t event = 0;
  std::uint8_t umask = 0;
  std::string_view name;     ///< Intel's name; in words for architectural events
  std::string_view where;    ///< processors that support it; empty: all that enumerate it in CPUID.0AH
  std::string_view pitfall;  ///< what it is often mistaken for; may be empty
  Source source;
};

/// All codes, architectural events first.
std::span<const EventCode> event_codes();

/// Finds a code; null if it is not in the list.
const EventCode* find_event(std::uint8_t event, std::uint8_t umask);

}  // namespace tally::pmu::intel
