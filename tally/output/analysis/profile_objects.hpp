// What the files that code came from do not tell: names of functions, inlined functions.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/profile.hpp"

namespace tally::report {

/// How the files are shown: by their paths, or by what is behind the last slash. Of several with one name each has the
/// beginning of its build id behind it, "prog [1f2e3d4c]"; its number where that is not enough, "prog [2]".
std::vector<std::string> object_names(const result::Profile& profile, bool whole_paths);

/// A sentence for each object without names, with the reason.
std::vector<std::string> nameless_lines(const result::Profile& profile);

/// A sentence for each file with debug information that was wanted and not read. Of many files of one object a few.
std::vector<std::string> unread_lines(const result::Profile& profile);

}  // namespace tally::report
