// Text → events.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/event/table.hpp"

namespace tally::event {

/// In which mode of the processor a hardware event is counted; software events have none.
enum class Mode { user, kernel };

/// An event that was asked for.
struct Event {
  Id id = Id::instructions;
  Mode mode = Mode::user;
  std::string asked;  ///< as the user wrote it
  bool operator==(const Event&) const = default;
};

/// The event's full name: "instructions:u", "page-faults".
std::string name(const Event& event);

/// One event from its name, with `:u` (the default) or `:k` behind a hardware event's.
/// Errors: bad_usage for an unknown name (the message offers the nearest ones) or suffix.
Result<Event> parse(std::string_view text);

/// Events from lists separated by commas; a second mention of the same event is dropped.
/// Errors: those of parse(); bad_usage for an empty name.
Result<std::vector<Event>> parse_lists(const std::vector<std::string>& lists);

/// What `tally stat` counts when nothing is asked.
std::vector<Event> default_set();

}  // namespace tally::event
