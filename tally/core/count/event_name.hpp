// The name of an event: the event and the processor mode in which it is counted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tally/core/base/api.hpp"

namespace tally {

/// The processor mode in which a hardware event is counted; software events have none.
enum class Mode {
  user,
  kernel,
  both,  ///< user and kernel
};

/// ":u", ":k", ":uk".
TALLY_API std::string_view suffix(Mode mode);

/// The name of an event. Only text() joins its parts; only split_event_name() separates them.
struct EventName {
  std::string base;               ///< "instructions", "r01c2", "task-clock"
  std::optional<Mode> mode = {};  ///< nothing: the event has no modes
  /// The printed name: "instructions:u", "task-clock".
  TALLY_API std::string text() const;
  bool empty() const { return base.empty(); }
  bool operator==(const EventName&) const = default;
};

/// Splits a printed name, from a file or a user. Text after a colon that is no mode stays in the base. Cost: one copy
/// of the base.
TALLY_API EventName split_event_name(std::string_view text);

/// Whether the requested event's text includes a mode: "r01c2:u", "cpu/event=0xc4/k".
TALLY_API bool states_mode(std::string_view asked);

}  // namespace tally
