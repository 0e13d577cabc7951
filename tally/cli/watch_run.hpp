// How `tally watch` goes on: reading, showing, and the command that it may run.
#pragma once

#include <optional>

#include "tally/cli/watch_options.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::cli {

/// The command beside which is watched, if there is one.
class Beside {
 public:
  /// Errors: not_found, not_executable, cannot_measure.
  static Result<Beside> start(const std::vector<std::string>& command, linux::Signals& signals);

  /// Takes what signals have come. True where watching is over: the command has ended, or the user wants to end.
  bool is_over(linux::Signals& signals);

  /// tally's exit code, once it is over.
  int exit_code() const { return code_; }

 private:
  std::optional<linux::Program> program_;
  int code_ = 0;
};

/// Prints tables one after the other; gives tally's exit code.
int watch_in_batch(watch::Watcher& watcher, const WatchOptions& options);

}  // namespace tally::cli
