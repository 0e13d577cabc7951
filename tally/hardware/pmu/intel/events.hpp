// Event codes of Intel processors that documents use, and what they really count. Not a list of all events: those are
// per processor model and come from libpfm4; these are needed to explain a register's value on any machine.
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
  std::string_view name;     ///< as Intel names it; the architectural ones are named in words
  std::string_view where;    ///< processors it is valid on; empty: wherever CPUID.0AH announces it
  std::string_view pitfall;  ///< what it is taken for and is not; empty where there is no such tale
  Source source;
};

/// All of them, architectural events first.
std::span<const EventCode> event_codes();

/// The meaning of a code; null where it is not in the list.
const EventCode* find_event(std::uint8_t event, std::uint8_t umask);

}  // namespace tally::pmu::intel
