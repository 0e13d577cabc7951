// Leaves functions out of a profile: their counts are those of their callers.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::callgrind {

/// Chooses functions.
struct FunctionChoice {
  std::vector<std::string> functions = {};  ///< patterns of their names, with * and ? as in a shell
  std::vector<std::string> objects = {};    ///< paths of files: all functions in them, without their linkage tables
  bool any() const { return !functions.empty() || !objects.empty(); }
};

/// Whether an object of the profile is the file at `path`, also through symbolic links.
bool is_file_at(const result::ProfileObject& object, const std::string& path);

/// A profile without some functions.
struct Skipped {
  result::Profile profile;
  /// Names of chosen functions that keep some of their counts, because unknown functions jumped to them (tail calls).
  std::vector<std::string> kept;
};

/// Leaves the chosen functions out: the counts of each call are those of the instruction that called it, in the nearest
/// caller that was not chosen, which also calls the functions that it called. The function with which a thread began,
/// and calls without a known caller, stay. Calls through a linkage table (FUNCTION@plt) belong to the function. If a
/// function jumped to others (tail calls), which of its calls did is estimated. Needs the profile's calls, which must
/// have all of its events. Totals stay. Cost: proportional to rows, and to calls times their depth.
Skipped without_functions(result::Profile profile, const FunctionChoice& choice);

}  // namespace tally::callgrind
