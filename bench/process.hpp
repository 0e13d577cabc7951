#pragma once

#include <string>
#include <vector>

namespace bench {

/// The result of a run.
struct Run {
  double seconds = 0;      ///< wall time from before posix_spawn to after wait4, by CLOCK_MONOTONIC
  double cpu_seconds = 0;  ///< user and system time of it and of the descendants that were waited for
  int status = 0;          ///< exit code, or 128 + signal
};

/// Files for the standard streams of a run.
struct Streams {
  std::string input = "/dev/null";
  std::string output = "/dev/null";
  std::string error = "/dev/null";
};

/// Runs a command and waits for it. Exits with a message if it cannot be started.
Run run(const std::vector<std::string>& command, const Streams& streams);

}  // namespace bench
