// Watches a machine: reads it repeatedly and makes a table of the differences.
#pragma once

#include <memory>
#include <optional>

#include "programs/watch/kernel_counters.hpp"
#include "programs/watch/task_counters.hpp"
#include "programs/watch/watch_header.hpp"
#include "programs/watch/watch_table.hpp"
#include "programs/watch/watched_machine.hpp"
#include "tally/core/base/result.hpp"

namespace tally::watch {

/// The options of a watcher.
struct WatchRequest {
  std::string root = "/";
  Shown shown;
  std::size_t most_groups = 4096;  ///< the most groups to read
};

/// Reads a machine. Not thread-safe.
class Watcher {
 public:
  /// Reads the properties of the machine, opens the available counters, and makes the first reading. Errors:
  /// cannot_measure without /proc/stat.
  static Result<Watcher> open(WatchRequest asked);

  const WatchedMachine& machine() const { return machine_; }
  result::WatchHeader header() const { return header_of(machine_); }

  /// The rows of the next tables.
  Shown& shown() { return asked_.shown; }

  /// Makes a reading and returns a table of the differences from the previous one. Cost: some files, a few per
  /// processor; one per process and five per group, if these are shown.
  result::WatchTable next();

  /// Returns the latest reading.
  const Reading& reading() const { return now_; }

 private:
  Watcher(WatchRequest asked, WatchedMachine machine, Counters counters, TaskCounters task_counters);
  Reading read(const Reading* before);

  WatchRequest asked_;
  WatchedMachine machine_;
  Counters counters_;
  TaskCounters task_counters_;
  FolderFiles root_;
  FolderFiles proc_;
  Reading now_;
};

}  // namespace tally::watch
