// What the differences of two commands add to the instructions that the first one executes.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/why/rerun.hpp"

namespace tally::why {

/// Counts the first command with each difference alone, and the second one, each three times without randomised
/// addresses: a heading, a line for each difference, and one for all together. Errors: a command cannot run.
Result<std::vector<std::string>> added_by_differences(const Rerun& first, const Rerun& second,
                                                      const std::vector<StartDifference>& differences,
                                                      linux::Signals& signals);

/// "+24,449": by how many instructions the threads of the second run executed more.
std::string added_text(const result::Run& before, const result::Run& after);

}  // namespace tally::why
