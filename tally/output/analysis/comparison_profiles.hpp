// Compares two profiles: the functions, source lines, files of code, processes and threads that changed.
#pragma once

#include <string>

#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/profile_difference.hpp"

namespace tally::output {

inline constexpr const char* other_processors = "the processors differ: count both on the same model";

/// Adds the rows and warnings of two profiles. Errors: bad_usage if they have no event in common.
Result<void> compare_profiles(Comparison& comparison);

}  // namespace tally::output
