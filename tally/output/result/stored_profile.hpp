// Reads profiles that were stored as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::result {

/// Whether a text looks like a result of `tally profile`.
bool is_profile(std::string_view text);

/// Reads a result of `tally profile` from a JSON text (docs/reference/profile-json.md). Its rows are functions and
/// lines: threads are merged, and addresses are those of functions. Errors: bad_usage with the location if the text is
/// something else; `name` is the file's name, for messages.
Result<Profile> read_profile(std::string_view text, const std::string& name);

/// The counts of a thread.
struct ProfileThread {
  CodeOwner owner;
  std::vector<std::int64_t> counts;  ///< one for each event of the profile
};

/// Reads the threads of a profile that read_profile() can read; its rows are sums over all of them.
std::vector<ProfileThread> read_profile_threads(std::string_view text);

}  // namespace tally::result
