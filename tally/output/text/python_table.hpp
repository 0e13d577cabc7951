// The functions of a Python program in a profile.
#pragma once

#include <string>

#include "tally/output/formats/profile.hpp"

namespace tally::report {

/// A table of Python functions, by their own counts of the first event, with a line below it; empty if the profile has
/// none.
std::string python_table(const result::Profile& profile, const ProfileStyle& style);

}  // namespace tally::report
