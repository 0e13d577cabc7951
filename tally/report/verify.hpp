// The answer of `tally verify`: for people, and for programs.
#pragma once

#include <string>

#include "tally/result/verify.hpp"

namespace tally::report {

/// The answer, in a sentence.
std::string verify_answer(const result::Verify& verify);

/// The answer, the grade of each event, the checks. `all`: those that passed one by one, too.
std::string verify_text(const result::Verify& verify, bool all);

/// The same as one JSON object, tally-verify/2 (docs/reference/verify-json.md).
std::string verify_json(const result::Verify& verify);

}  // namespace tally::report
