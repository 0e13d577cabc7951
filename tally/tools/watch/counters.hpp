// Counters of the kernel on every processor and around them: opened once, read in groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"
#include "tally/tools/watch/machine.hpp"
#include "tally/tools/watch/reading.hpp"

namespace tally::watch {

/// Why this machine's cores are not counted: it has no PMU, or is made of files.
std::size_t why_no_core_counters(Machine& machine);

/// What perf_event_open(2) answered, as a reason; `what` was to be counted.
std::size_t why_refused(Machine& machine, int os_errno, const std::string& what);

/// What a generic event of the kernel's has in its upper half, so that it is that of this processor's kind of core: 0
/// where all are of one kind.
std::uint64_t core_type_bits(const Machine& machine, int processor);

/// What is open. Moves, never copies.
class Counters {
 public:
  /// Opens what this user may, and notes in `machine` where each column comes from, or why it has no source. On a
  /// machine of files nothing is opened. Cost: up to ten counters a processor.
  static Counters open(Machine& machine, const std::vector<int>& processors);

  /// What all of them hold: sums that only grow. Cost: one system call for each group of counters.
  Counts read();

 private:
  struct Member {
    Counted counts;
    double scale = 1;
    bool accesses = false;
    linux::PerfValue last;
    double sum = 0;
  };
  // Counted at the same times, read together: a leader's descriptor reads all.
  struct Group {
    bool of_socket = false;
    int where = 0;
    std::vector<linux::PerfCounter> counters;
    std::vector<Member> members;
  };

  void open_cores(Machine& machine, const std::vector<int>& processors);
  void open_software(Machine& machine, const std::vector<int>& processors);
  void open_around(Machine& machine);
  int add(bool of_socket, int where, int processor, const std::vector<std::pair<linux::PerfEvent, Member>>& events);
  static void take(Group& group, Sums& sums);

  std::vector<Group> groups_;
};

}  // namespace tally::watch
