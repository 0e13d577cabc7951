// Programs of others that are started for what they make or say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"

namespace tally::linux {

/// How a tool ended, and what it said on both of its streams.
struct ToolEnd {
  int exit_code = 0;
  std::string said;
  bool was_stopped = false;  ///< it took too long, or the user asked tally to end meanwhile
};

/// Runs a tool to its end; it is found through PATH, no shell reads its words, and its standard input is empty. After
/// `limit`, or as soon as one of tally's own signals to end waits (linux::Signals) or is noted (noted_signal()), it is
/// killed. Of what it says, 256 MiB are kept. Errors: not_found where there is none of that name; cannot_measure where
/// it cannot be started.
Result<ToolEnd> run_tool(const std::vector<std::string>& command, std::optional<Nanoseconds> limit = {});

}  // namespace tally::linux
