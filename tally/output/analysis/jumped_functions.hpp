// Functions that are reached by jumps (tail calls), as calls in flame graphs.
#pragma once

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// Returns the same counts with calls to functions that callees jumped to: std::function, virtual calls and linkage
/// tables reach many functions only by jumps. The engine records calls, so the counts of such a function are in those
/// of the call whose callee jumped. The function gets a call below that one, 0 times. A call that it made shows where
/// it ran, and its calls are then below it. Its own counts, which are known for each thread, are distributed over the
/// calls that counted more than their callees: where its calls show that it ran; else where as much is left; else in
/// proportion to what is left. Functions with which threads began get an outermost call. Linkage tables get none.
/// Profiles of samples, whose stacks are complete, stay. Cost: proportional to rows and calls.
result::Profile with_jumped_functions(const result::Profile& profile);

}  // namespace tally::output
