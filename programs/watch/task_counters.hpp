// Counters of single processes and control groups, opened for those that are shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "programs/watch/machine_reading.hpp"
#include "programs/watch/watched_machine.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::watch {

/// Instructions and cycles of processes and groups. Can be moved but not copied.
class TaskCounters {
 public:
  /// Records in `machine` the sources of the columns, or why they have none. If nothing can be counted, read() opens no
  /// counters.
  static TaskCounters open(WatchedMachine& machine);

  /// Reads the counters of these processes, and closes those of all others. A new process starts with 0. Cost: two
  /// counters per thread, including later threads; two system calls each.
  TaskReadings<int> read(WatchedMachine& machine, const std::vector<ProcessStatistics>& processes);

  /// The same for groups. Cost: two counters per group and processor.
  TaskReadings<std::string> read(WatchedMachine& machine, const std::vector<CgroupStatistics>& groups);

 private:
  // One counter and its last value.
  struct Member {
    linux::PerfCounter counter;
    Counted counts = Counted::instructions;
    linux::PerfValue last;
    double sum = 0;
  };
  struct Opened {
    std::vector<Member> members;
    std::size_t refused = 0;  // the reason if it could not be opened; otherwise 0
    bool is_seen = false;
  };

  static int add(Opened& opened, std::uint64_t type_bits, const linux::PerfTarget& target);
  void open_process(WatchedMachine& machine, int process, Opened& opened) const;
  void open_group(WatchedMachine& machine, const std::string& path, Opened& opened) const;
  static Sums take(Opened& opened);
  void close_others(bool of_groups);
  Opened& known(const std::string& key, bool& is_new);

  bool counts_ = false;
  std::map<std::string, Opened> opened_;  // a process by its pid and start time, a group by its path
};

}  // namespace tally::watch
