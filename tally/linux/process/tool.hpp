// Runs other programs for their output or the files that they make.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"

namespace tally::linux {

/// How a tool ended, and its output on both streams.
struct ToolEnd {
  int exit_code = 0;
  std::string output;
  bool was_stopped = false;  ///< it took too long, or the user asked tally to end
  bool timed_out = false;    ///< it took too long
};

/// Runs a tool to its end; processes that it leaves running may keep its output open. It is found through PATH, no
/// shell interprets its arguments, and its standard input is `input`. After `limit`, or as soon as a signal that asks
/// tally to end is pending (linux::Signals) or noted (noted_signal()), it gets SIGTERM with all processes that it
/// started in its process group, and what still runs a second later is killed. Keeps 256 MiB of its output. Errors:
/// not_found if there is no program of that name; cannot_measure if it cannot be started.
Result<ToolEnd> run_tool(const std::vector<std::string>& command, std::optional<Nanoseconds> limit = {},
                         const std::string& input = "/dev/null");

}  // namespace tally::linux
