// The table of a profile.
#pragma once

#include <cstdint>
#include <vector>

#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

/// Returns the functions whose source lines the table shows, and their clones; none if its rows are not functions.
std::vector<std::uint32_t> shown_functions(const result::Profile& profile, const ProfileStyle& style);

}  // namespace tally::output
