// The result of `tally verify`: as text, JSON and a page.
#pragma once

#include <span>
#include <string>

#include "tally/output/kinds/format.hpp"
#include "tally/output/kinds/page_format.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::output {

/// A format of results of `tally verify`. `all`: list passed checks one by one, if the format otherwise summarises
/// them. `terminal`: columns of the terminal that shows it; 0: no terminal.
struct VerifyFormat : Format {
  std::string (*write)(const result::Verify& verify, bool all, std::size_t terminal);
};

/// All formats, the default first. The registry of tally/output reads the files: these rows have no readers.
std::span<const VerifyFormat> verify_formats();

/// The answer in a few sentences.
std::string verify_answer(const result::Verify& verify);

/// The answer, the grade of each event, and the checks. `all`: list passed checks one by one.
std::string verify_text(const result::Verify& verify, bool all, std::size_t terminal = 0);

/// The same as one JSON object, tally-verify/2 (docs/reference/verify-json.md).
std::string verify_json(const result::Verify& verify);

/// Its section of a page: which counts are reliable, and the evidence.
PageSection page_section(const result::Verify& verify);

}  // namespace tally::output
