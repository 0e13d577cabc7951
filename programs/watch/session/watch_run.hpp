// Runs `tally watch`: reads and shows the tables, and runs the optional command.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "programs/watch/output/stored_watch.hpp"
#include "programs/watch/screen/screen_terminal.hpp"
#include "programs/watch/session/watch_options.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::session {

/// The command that runs while tally watches, if there is one.
class ConcurrentCommand {
 public:
  /// Errors: not_found, not_executable, cannot_measure.
  static Result<ConcurrentCommand> start(const std::vector<std::string>& command, linux::Signals& signals);

  /// Handles pending signals. Returns true if watching ends: the command has ended, or the user wants to quit.
  bool is_over(linux::Signals& signals);

  /// Waits for the command unless `is_over`, and returns tally's exit code. If the user ended watching and there is no
  /// command, calls `before` and kills tally with the signal.
  int finish(linux::Signals& signals, bool is_over, const std::function<void()>& before);

 private:
  std::optional<linux::Program> program_;
  int code_ = 0;
};

/// The file of readings that --record writes, in JSON Lines. Stays closed if the path is empty.
class Record {
 public:
  /// Errors: cannot_write.
  Result<void> open(const std::string& path, const result::WatchHeader& header);
  Result<void> add(const result::WatchTable& table);
  void close();
  bool is_open() const { return file_.has_value(); }
  const std::string& path() const { return path_; }

 private:
  Result<void> write(const std::string& text);
  std::optional<linux::Output> file_;
  std::string path_;
};

/// What a recording begins with.
result::WatchHeader header_of(const watch::Watcher& watcher);

/// Prints tables one after the other. Returns tally's exit code.
int watch_in_batch(watch::Watcher& watcher, const WatchOptions& options);

/// Prints the tables of a recording. Returns tally's exit code.
int print_recording(const result::Recording& recording, const WatchOptions& options);

}  // namespace tally::session
