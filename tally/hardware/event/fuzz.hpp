// What must hold for any text whatever: for the fuzzer and for the test with random texts.
#pragma once

#include <string_view>

namespace tally::event {

/// Parses a text as a list of events and explains what comes of it. Ends the program where something does not hold: an
/// error without words, an event whose name is not the same event again, an absent event without its encoding.
void check_any_text(std::string_view text);

}  // namespace tally::event
