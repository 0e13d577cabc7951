// Which instructions a program executed: by category, by width, and the most frequent ones.
#pragma once

#include "tally/output/result/code_values.hpp"

namespace tally::result {

/// Sums the rows of code with forms, of all processes. `names` are all of them. Pure.
InstructionMix mix_of(const CodeCounts& code);

}  // namespace tally::result
