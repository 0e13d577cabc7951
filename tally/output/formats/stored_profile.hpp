// Profiles that were written as JSON, read back.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/result/profile.hpp"

namespace tally::result {

/// Whether a text looks like a result of `tally profile`.
bool is_profile(std::string_view text);

/// The result of `tally profile` in a JSON text (docs/reference/profile-json.md). Its rows are those of functions and
/// lines: threads are together, and addresses are those of functions. Errors: bad_usage where the text is something
/// else, with the place; `name` is the file's, for the message.
Result<Profile> read_profile(std::string_view text, const std::string& name);

}  // namespace tally::result
