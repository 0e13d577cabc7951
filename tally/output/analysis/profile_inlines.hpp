// Inlined functions as functions: how the source has them.
#pragma once

#include "tally/output/result/profile.hpp"

namespace tally::report {

/// The same counts with every instruction in the innermost function that the source has it in, and stacks in which
/// inlined functions stand below those that hold them; their calls are not counted (0). Rows are exact. Of stacks:
/// where a function counted in one stack only, its inlined functions have what they counted; where it counted in
/// several, what is known of all together is shared out, so that the counts of each stack and each function add up.
result::Profile with_inlined_functions(const result::Profile& profile);

}  // namespace tally::report
