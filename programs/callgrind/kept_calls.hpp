// Removes calls from a profile.
#pragma once

#include <cstddef>
#include <functional>

#include "tally/output/result/profile_result.hpp"

namespace tally::callgrind {

/// Keeps the calls for which `keeps` is true, and their numbers; updates the inclusive counts. A call whose parent is
/// not kept is below the nearest one that is.
void keep_calls(result::Profile& profile, const std::function<bool(std::size_t)>& keeps);

}  // namespace tally::callgrind
