// What must hold for any text whatever: for the fuzzer and for the test with random texts.
#pragma once

#include <string_view>

namespace tally::pmu {

/// Reads a text as a number and as a request, and explains what comes of it. Ends the program where
/// something does not hold: an error without words, a value wider than its register, fields that do not make the value
/// again. True where the text was a request.
bool check_any_text(std::string_view text);

}  // namespace tally::pmu
