// The answer of `tally verify`: for people, and for programs.
#pragma once

#include <span>
#include <string>

#include "tally/output/formats/format.hpp"
#include "tally/output/result/verify.hpp"

namespace tally::report {

/// A format of results of `tally verify`. `all`: checks that passed are listed one by one, where the format has a
/// summary of them otherwise. `terminal`: columns of the terminal that shows it; 0: none does.
struct VerifyFormat : Format {
  std::string (*write)(const result::Verify& verify, bool all, std::size_t terminal);
};

/// All of them, the default first.
std::span<const VerifyFormat> verify_formats();

/// The answer, in a sentence.
std::string verify_answer(const result::Verify& verify);

/// The answer, the grade of each event, the checks. `all`: those that passed one by one, too.
std::string verify_text(const result::Verify& verify, bool all, std::size_t terminal = 0);

/// The same as one JSON object, tally-verify/2 (docs/reference/verify-json.md).
std::string verify_json(const result::Verify& verify);

}  // namespace tally::report
