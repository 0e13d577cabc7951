// The functions of a Python program in a profile.
#pragma once

#include <string>

#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

/// A table of Python functions, by their own counts of the first event, with a line below it; empty if the profile has
/// none.
std::string python_table(const result::Profile& profile, const ProfileStyle& style);

}  // namespace tally::output
