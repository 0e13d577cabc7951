// Gates in a file: tally-gates.toml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/analysis/gates.hpp"

namespace tally::comparison {

/// Parses the text of a file of gates (docs/guides/ci.md); `name` is the file's, for messages. Errors: bad_usage with
/// "FILE:LINE" if the text is no TOML, has an unknown key, or a gate is wrong.
Result<std::vector<output::Gate>> parse_gates_file(std::string_view text, const std::string& name);

}  // namespace tally::comparison
