// Separates the parts of a profile.
#pragma once

#include <cstddef>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// Returns the profile of one part, by its index in Profile::parts: its rows, its calls, and their sums as totals. It
/// has this one part.
result::Profile profile_of_part(const result::Profile& profile, std::size_t part);

}  // namespace tally::output
