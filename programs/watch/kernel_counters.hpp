// Kernel counters per processor and outside the cores: opened once, read in groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/watch/machine_reading.hpp"
#include "programs/watch/watched_machine.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::watch {

/// Returns the reason why this machine's cores are not counted: it has no PMU, or it is a directory of files.
std::size_t why_no_core_counters(WatchedMachine& machine);

/// Returns the error of perf_event_open(2) as a reason; `what` could not be counted.
std::size_t why_refused(WatchedMachine& machine, int os_errno, const std::string& what);

/// Returns the upper half of a generic event's code, which selects the kind of core of this processor: 0 if all cores
/// are of one kind.
std::uint64_t core_type_bits(const WatchedMachine& machine, int processor);

/// The open counters. Can be moved but not copied.
class Counters {
 public:
  /// Opens the counters that this user may open, and records in `machine` the source of each column, or why it has
  /// none. Opens nothing on a machine of files. Cost: up to ten counters per processor.
  static Counters open(WatchedMachine& machine, const std::vector<int>& processors);

  /// Reads all counters: sums that only grow. Cost: one system call per group of counters.
  Counts read();

 private:
  struct Member {
    Counted counts;
    double scale = 1;
    bool accesses = false;
    linux::PerfValue last;
    double sum = 0;
  };
  // Counters that run at the same times and are read together through the leader's descriptor.
  struct Group {
    bool of_socket = false;
    int where = 0;
    std::vector<linux::PerfCounter> counters;
    std::vector<Member> members;
  };

  void open_cores(WatchedMachine& machine, const std::vector<int>& processors);
  void open_software(WatchedMachine& machine, const std::vector<int>& processors);
  void open_around(WatchedMachine& machine);
  int add(bool of_socket, int where, int processor, const std::vector<std::pair<linux::PerfEvent, Member>>& events);
  static void take(Group& group, Sums& sums);

  std::vector<Group> groups_;
};

}  // namespace tally::watch
