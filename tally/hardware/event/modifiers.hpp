// Parses event modifiers: the modes in which an event is counted.
#pragma once

#include <optional>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/core/count/event_name.hpp"

namespace tally::event {

using tally::Mode;
using tally::suffix;

/// Parses the letters after the colon: u, k, or both in any order. Errors (bad_usage): no letter; a perf modifier that
/// does not apply to counts, with a hint; any other letter. `event` is the whole text, for the message.
Result<Mode> parse_modifiers(std::string_view letters, std::string_view event);

}  // namespace tally::event
