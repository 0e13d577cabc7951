// What the files that code came from do not tell: names of functions, inlined functions.
#pragma once

#include <string>
#include <vector>

#include "tally/result/profile.hpp"

namespace tally::report {

/// A sentence for each object without names, with the reason.
std::vector<std::string> nameless_lines(const result::Profile& profile);

/// A sentence for each file with debug information that was wanted and not read. Of many files of one object a few.
std::vector<std::string> unread_lines(const result::Profile& profile);

}  // namespace tally::report
