// Parses events from text, in every notation that users know. docs/reference/events.md has the grammar.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/encoding.hpp"
#include "tally/hardware/event/generic_events.hpp"
#include "tally/hardware/event/modifiers.hpp"
#include "tally/hardware/event/name_sources.hpp"

namespace tally::event {

/// An event that a user requested.
struct Event {
  Id id = Id::instructions;  ///< the generic event that counts the same; Id::code if there is none
  Mode mode = Mode::user;
  std::string asked;                 ///< as the user wrote it
  std::optional<Encoding> encoding;  ///< if a PMU's event name or a code was requested
  std::string label;                 ///< name without the mode, if it differs from the generic name
  int group = 0;                     ///< 0: none; events with the same number are in the same braces
  std::vector<std::string> notes;    ///< what parsing translated or dropped
  std::string absent = {};           ///< why this machine lacks it, if Sources::keeps_missing
  bool operator==(const Event&) const = default;
};

/// The event's name in its parts. page-faults:u is a name of its own: software events have no modes.
EventName event_name(const Event& event);

/// Whether the event is of a unit outside the cores, which counts for the whole machine.
bool is_of_machine(const Event& event);

/// Whether the event is a clock of the processor's time: task-clock or cpu-clock.
bool is_clock(const Event& event);

/// The unit of the event's counts.
Unit unit_of(const Event& event);

/// The event's full name: "instructions:u", "page-faults", "r01c2:u".
std::string name(const Event& event);

/// For example "r00c4:u is counted as branches: Intel's BR_INST_RETIRED.ALL_BRANCHES (C4/00)". Empty if the event was
/// requested by its generic name or has no generic event.
std::string counted_as(const Event& event);

/// Parses one event. Hardware events default to user mode.
/// Errors: bad_usage for an unknown name (the message suggests the nearest names of all sources), for an unknown
/// suffix, field or bit, and for events that cannot be counted.
Result<Event> parse(std::string_view text, const Sources& sources = {});

/// Parses comma-separated lists with groups in braces; drops duplicates. A hardware event without a mode is counted in
/// mode `usual`.
/// Errors: those of parse(); bad_usage for an empty name and for unmatched braces or slashes.
Result<std::vector<Event>> parse_lists(const std::vector<std::string>& lists, const Sources& sources = {},
                                       Mode usual = Mode::user);

/// The events that `tally stat` counts by default.
std::vector<Event> default_set();

}  // namespace tally::event
