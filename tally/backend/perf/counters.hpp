// The counters of a request: opened on its targets, read as one.
#pragma once

#include <vector>

#include "tally/backend/perf/encode.hpp"
#include "tally/count/count.hpp"
#include "tally/event/event.hpp"
#include "tally/linux/perf_event.hpp"

namespace tally::backend::perf {

/// Why the kernel did not open a counter, in words.
std::string why_refused(int os_errno, const event::Event& event);

/// Counters for the events of a request, in their groups. Each target gets its own; what is read is the sum of all.
class Counters {
 public:
  Counters(const std::vector<event::Event>& events, const std::vector<linux::PmuDevice>& cores);

  /// Opens all of them on one more target. What does not open is told by errors and counts. Cost: a system call each.
  void open(const linux::PerfTarget& target);

  /// Starts those that wait to be told.
  void enable() const;

  /// The first errno of the events that did not open; 0 where all did.
  int first_errno() const;

  /// How many are open.
  std::size_t size() const;

  /// What each event's counters hold, in the order of the events; absent with the reason where none opened. Cost: a
  /// system call for each counter.
  std::vector<Count> read() const;

 private:
  struct One {
    event::Event event;
    Encoded encoded;
    int os_errno = 0;  // of the last one that did not open
    std::vector<linux::PerfCounter> opened;
  };
  const linux::PerfCounter* leader_of(const One& member) const;
  Count count_of(const One& one) const;

  std::vector<One> all_;
};

}  // namespace tally::backend::perf
