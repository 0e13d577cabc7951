// Folds recursion in sampled call stacks.
#pragma once

#include "tally/output/result/profile_result.hpp"

namespace tally::profile {

/// In a sampled profile, keeps each function once in a stack, as in profiles that follow calls
/// (ProfileCall::recursive). Its inner frames count for the outer one, and their callees come below that.
void fold_recursion(result::Profile& profile);

}  // namespace tally::profile
