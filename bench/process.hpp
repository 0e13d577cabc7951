#pragma once

#include <string>
#include <vector>

namespace bench {

/// How one run ended.
struct Run {
  double seconds = 0;  ///< wall time from before posix_spawn to after wait4, by CLOCK_MONOTONIC
  int status = 0;      ///< exit code, or 128 + signal
};

/// Files that stand for the standard descriptors of a run.
struct Streams {
  std::string input = "/dev/null";
  std::string output = "/dev/null";
  std::string error = "/dev/null";
};

/// Runs a command and waits for it. Ends the program with a message where it cannot be started.
Run run(const std::vector<std::string>& command, const Streams& streams);

}  // namespace bench
