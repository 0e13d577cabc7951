// Counters of single processes and control groups: opened for those that are shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"
#include "tally/tools/watch/machine.hpp"
#include "tally/tools/watch/reading.hpp"

namespace tally::watch {

/// Instructions and cycles of processes and groups. Moves, never copies.
class TaskCounters {
 public:
  /// Whether there is anything to be counted on this machine. Notes in `machine` where the columns come from, or why
  /// they have no source.
  static TaskCounters open(Machine& machine);

  /// What these hold; counters of those that were there before and are not among them are closed. A process that is
  /// new begins with 0. Cost: two counters for each thread, later threads among them; two system calls each.
  TaskReadings<int> read(Machine& machine, const std::vector<linux::ProcessStatistics>& processes);

  /// The same of groups. Cost: two counters for each group on each processor.
  TaskReadings<std::string> read(Machine& machine, const std::vector<linux::CgroupStatistics>& groups);

 private:
  // One counter, and what it held.
  struct Member {
    linux::PerfCounter counter;
    Counted counts = Counted::instructions;
    linux::PerfValue last;
    double sum = 0;
  };
  struct Opened {
    std::vector<Member> members;
    std::size_t refused = 0;  // the reason, where it could not be opened; 0: it was
    bool is_seen = false;
  };

  static int add(Opened& opened, std::uint64_t type_bits, const linux::PerfTarget& target);
  void open_process(Machine& machine, int process, Opened& opened) const;
  void open_group(Machine& machine, const std::string& path, Opened& opened) const;
  static Sums take(Opened& opened);
  void close_others(bool of_groups);
  Opened& known(const std::string& key, bool& is_new);

  bool counts_ = false;
  std::map<std::string, Opened> opened_;  // a process by its number and start, a group by its path
};

}  // namespace tally::watch
