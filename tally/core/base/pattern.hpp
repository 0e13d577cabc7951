// Patterns of names, with * and ? as in a shell.
#pragma once

#include <string_view>

namespace tally {

/// Whether a name matches a pattern: `*` stands for any text, `?` for one character. Pure; cost: the product of both
/// lengths at most.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace tally
