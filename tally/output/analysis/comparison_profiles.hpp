// Compares two profiles: the functions, source lines, files of code, processes and threads that changed.
#pragma once

#include <optional>
#include <string>

#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/profile_difference.hpp"

namespace tally::output {

inline constexpr const char* other_processors = "the processors differ: count both on the same model";

/// Adds the rows and warnings of two profiles. Errors: bad_usage if they have no event in common.
Result<void> compare_profiles(Comparison& comparison);

/// The row of a function of Comparison::all_functions, changed or not; nothing if a profile does not have the event.
std::optional<ComparedCount> function_row(const Comparison& comparison, const std::string& event, std::size_t index);

}  // namespace tally::output
