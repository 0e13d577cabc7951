// Inlined functions as separate functions, as in the source.
#pragma once

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// Returns the same counts with every instruction in its innermost inlined function, and with stacks in which inlined
/// functions are below their enclosing functions; their calls are not counted (0). Rows are exact. Stacks: if a
/// function counted in one stack only, the counts of its inlined functions are exact; if it counted in several, the
/// known sums are distributed so that the counts of each stack and each function add up.
result::Profile with_inlined_functions(const result::Profile& profile);

}  // namespace tally::output
