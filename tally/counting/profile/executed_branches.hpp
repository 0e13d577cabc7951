// Derives the branches of a profile, with their counts, from the counts of its instructions.
#pragma once

#include <cstdint>

#include "tally/counting/profile/code_names.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::profile {

/// Adds the branches of one object, and its linked functions. The counts of direct branches follow from the executions
/// of the instructions, those of indirect ones from the jumps of the profile. What else was executed than both lead to
/// was entered from an unknown source.
void find_branches(result::Profile& profile, std::uint32_t object, const CodeNames& names);

}  // namespace tally::profile
