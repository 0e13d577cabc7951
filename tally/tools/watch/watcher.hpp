// A machine that is watched: read again and again, each time a table of what was between.
#pragma once

#include <memory>
#include <optional>

#include "tally/core/base/result.hpp"
#include "tally/tools/watch/counters.hpp"
#include "tally/tools/watch/machine.hpp"
#include "tally/tools/watch/table.hpp"
#include "tally/tools/watch/task_counters.hpp"

namespace tally::watch {

/// What is watched, and how much of it.
struct Asked {
  std::string root = "/";
  Shown shown;
  std::size_t most_groups = 4096;  ///< that are read
};

/// Reads a machine. Not for several threads at once.
class Watcher {
 public:
  /// Looks at the machine, opens what may be counted, and reads it once. Errors: cannot_measure where there is no
  /// /proc/stat.
  static Result<Watcher> open(Asked asked);

  const Machine& machine() const { return machine_; }
  result::WatchHeader header() const { return header_of(machine_); }

  /// Which rows the next tables have.
  Shown& shown() { return asked_.shown; }

  /// Reads once more; a table of what was since the reading before. Cost: some files, a few for each processor; one for
  /// each process and five for each group where these are shown.
  result::WatchTable next();

  /// What was read last.
  const Reading& reading() const { return now_; }

 private:
  Watcher(Asked asked, Machine machine, Counters counters, TaskCounters task_counters);
  Reading read(const Reading* before);

  Asked asked_;
  Machine machine_;
  Counters counters_;
  TaskCounters task_counters_;
  linux::FolderFiles root_;
  linux::FolderFiles proc_;
  Reading now_;
};

}  // namespace tally::watch
