// The name of an event in its parts: what is counted, and in which mode of the processor.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tally/core/base/api.hpp"

namespace tally {

/// In which mode of the processor a hardware event is counted; software events have none.
enum class Mode {
  user,
  kernel,
  both,  ///< user and kernel
};

/// ":u", ":k", ":uk".
TALLY_API std::string_view suffix(Mode mode);

/// The name of an event. Only text() joins its parts, and only split_event_name() separates them.
struct EventName {
  std::string base;               ///< "instructions", "r01c2", "task-clock"
  std::optional<Mode> mode = {};  ///< nothing: the event has no modes
  /// The printed name: "instructions:u", "task-clock".
  TALLY_API std::string text() const;
  bool empty() const { return base.empty(); }
  bool operator==(const EventName&) const = default;
};

/// The parts of a printed name, for names that come from a file or from a user. Any other text after a colon belongs
/// to the base. Cost: one copy of the base.
TALLY_API EventName split_event_name(std::string_view text);

/// Whether the text of an event that was asked for says its mode: "r01c2:u", "cpu/event=0xc4/k".
TALLY_API bool states_mode(std::string_view asked);

}  // namespace tally
