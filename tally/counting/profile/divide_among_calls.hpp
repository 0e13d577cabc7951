// Counts of models for each call. Models count instructions, not calls: a call gets a part of its function's count.
#pragma once

#include <cstddef>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::profile {

/// Replaces `self` and `inclusive` of these events, which have executed instructions, by parts of the counts of rows.
/// The calls of a function have its count, divided by their instructions. Code that is never called, only jumped to, is
/// part of calls that execute more instructions than their functions have. So calls, functions and rows have the same
/// sum in each thread.
void divide_among_calls(result::Profile& profile, const std::vector<std::size_t>& events);

}  // namespace tally::profile
