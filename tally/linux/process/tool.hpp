// Programs of others that are started for what they make or say.
#pragma once

#include <string>
#include <vector>

#include "tally/base/result.hpp"

namespace tally::linux {

/// How a tool ended, and what it said on both of its streams.
struct ToolEnd {
  int exit_code = 0;
  std::string said;
};

/// Runs a tool to its end; it is found through PATH, and its standard input is empty. Errors: not_found where there is
/// none of that name; cannot_measure where it cannot be started.
Result<ToolEnd> run_tool(const std::vector<std::string>& command);

}  // namespace tally::linux
