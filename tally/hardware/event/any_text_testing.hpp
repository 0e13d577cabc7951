// Checks that must hold for any text, shared by the fuzzer and the test with random texts.
#pragma once

#include <string_view>

namespace tally::event {

/// Parses a text as a list of events and explains the result. Aborts if an error has no message, an event's name does
/// not parse to the same event, or an absent event has no encoding.
void check_any_text(std::string_view text);

}  // namespace tally::event
