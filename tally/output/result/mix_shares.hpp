// Which instructions a program executed: by category, by width, and the most frequent ones.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tally/output/result/code_values.hpp"

namespace tally::result {

/// Executions by CodeRow::form.
using FormCounts = std::map<std::uint32_t, std::int64_t>;

/// Sums executions of forms. `names` are all of them. Pure.
InstructionMix mix_of(const FormCounts& executions, const std::vector<CodeForm>& forms);
/// The same of the rows of all processes. Counted instructions without a row are unknown.
InstructionMix mix_of(const CodeCounts& code);

}  // namespace tally::result
