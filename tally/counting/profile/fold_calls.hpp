// Stacks in which a function stands several times.
#pragma once

#include "tally/output/result/profile.hpp"

namespace tally::profile {

/// Of a sampled profile: what is called within itself stands in the stack once, as it does where calls were followed
/// (ProfileCall::recursive): its inner frames count for the outer one, and what they call stands below that.
void fold_recursion(result::Profile& profile);

}  // namespace tally::profile
