// Why counts and metrics of regions are not reliable, or absent.
#pragma once

#include <string>

#include "tally/core/count/region.hpp"

namespace tally {

/// "too small to trust: overhead is 50 % of the count": of a count that is too small.
std::string too_small_reason(const RegionEvent& event);

/// The total to compute with: partial, with that reason, if it is too small.
Count usable_total(const RegionEvent& event);

/// The reason of a metric that needs a time.
inline constexpr const char* without_native_time =
    "only a whole region that libtally marks in one process has a duration_time, with --native";

}  // namespace tally
