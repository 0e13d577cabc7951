// Checks that must hold for any text, shared by the fuzzer and the test with random texts.
#pragma once

#include <string_view>

namespace tally::pmu {

/// Parses a text as a number and as a request, and explains the result. Aborts if an error has no message, a value is
/// wider than its register, or the decoded fields do not encode to the same value. Returns whether the text was a
/// request.
bool check_any_text(std::string_view text);

}  // namespace tally::pmu
