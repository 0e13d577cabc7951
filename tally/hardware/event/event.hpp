// Text → events, by every name that people know them by. docs/reference/events.md has the grammar.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/encoding.hpp"
#include "tally/hardware/event/modifiers.hpp"
#include "tally/hardware/event/sources.hpp"
#include "tally/hardware/event/table.hpp"

namespace tally::event {

/// An event that was asked for.
struct Event {
  Id id = Id::instructions;  ///< the table's event that counts the same; Id::code where none does
  Mode mode = Mode::user;
  std::string asked;                 ///< as the user wrote it
  std::optional<Encoding> encoding;  ///< where a PMU's own name or a code was asked for
  std::string label;                 ///< its name without the mode, where that is not the table's
  int group = 0;                     ///< 0: in none; events with the same number stood in one pair of braces
  std::vector<std::string> notes;    ///< what was translated or dropped on the way from the text
  bool operator==(const Event&) const = default;
};

/// The event's name in its parts. page-faults:u has a mode in its name, although software events have none.
EventName event_name(const Event& event);

/// The event's full name: "instructions:u", "page-faults", "r01c2:u".
std::string name(const Event& event);

/// "r00c4:u is counted as branches: Intel's BR_INST_RETIRED.ALL_BRANCHES (C4/00)"; empty for an event that was asked
/// for by a name of the table, or that no event of the table stands for.
std::string counted_as(const Event& event);

/// One event from its text. Hardware events are counted in user mode unless the text says otherwise.
/// Errors: bad_usage for an unknown name (the message offers the nearest ones of all sources), a suffix, field or bit
/// that is not understood, and what no count can be made of.
Result<Event> parse(std::string_view text, const Sources& sources = {});

/// Events from lists separated by commas, with groups in braces; a second mention of the same event is dropped.
/// An event of a PMU whose text says no mode is counted in `usual`. Errors: those of parse(); bad_usage for an empty
/// name, and for braces or slashes that do not match.
Result<std::vector<Event>> parse_lists(const std::vector<std::string>& lists, const Sources& sources = {},
                                       Mode usual = Mode::user);

/// What `tally stat` counts when nothing is asked.
std::vector<Event> default_set();

}  // namespace tally::event
