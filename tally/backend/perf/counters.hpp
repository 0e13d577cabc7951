// The counters of a request: opened on its targets, read as one.
#pragma once

#include <vector>

#include "tally/backend/conductor.hpp"
#include "tally/backend/perf/encode.hpp"
#include "tally/count/count.hpp"
#include "tally/event/event.hpp"
#include "tally/linux/perf_event.hpp"

namespace tally::backend::perf {

/// Why the kernel did not open a counter, in words.
std::string why_refused(int os_errno, const event::Event& event);

/// What the PMUs of different kinds of cores counted of one event. Each counts on its own cores only, so that none of
/// them ran all the time, and what was missed cannot be told from what ran elsewhere: nothing is scaled. `by_turns`: of
/// threads, which run on one kind at a time. Counted where the times add up to all of it, else partial. Pure.
Count of_core_types(const std::vector<Reading>& kinds, const std::string& source, bool by_turns);

/// Counters for the events of a request, in their groups. Each target gets its own; what is read is the sum of all.
class Counters final : public Meter {
 public:
  Counters(const std::vector<event::Event>& events, const std::vector<linux::PmuDevice>& cores);

  /// Opens all of them on one more target. What does not open is told by errors and counts. Cost: a system call each.
  void open(const linux::PerfTarget& target);

  /// Starts those that wait to be told.
  void enable() override;

  /// The first errno of the events that did not open; 0 where all did.
  int first_errno() const;

  /// How many are open.
  std::size_t size() const;

  /// How many targets there are.
  std::size_t targets() const { return targets_.size(); }

  /// What each event's counters hold, in the order of the events; absent with the reason where none opened. Cost: a
  /// system call for each counter.
  std::vector<Count> read() override;

  /// What some targets had in what was read last, by the order in which they were opened.
  std::vector<Count> of(const std::vector<std::size_t>& targets) const;

 private:
  // What a counter held when it was read last; nothing where that failed.
  using Held = std::optional<Reading>;
  struct One {
    event::Event event;
    std::vector<Encoded> kinds;                                // one for each kind of cores that it is counted on
    int os_errno = 0;                                          // of the last one that did not open
    std::vector<std::vector<linux::PerfCounter>> opened = {};  // by target, then by kind
    std::vector<std::vector<Held>> held = {};                  // the same
  };
  const linux::PerfCounter* leader_of(const One& member, std::size_t kind) const;
  bool is_elsewhere(const One& one, std::size_t target, std::size_t kind) const;
  Count count_of(const One& one, const std::vector<std::size_t>& targets) const;
  Count sum_of(const One& one, const std::vector<std::vector<Reading>>& readings) const;

  std::vector<One> all_;
  std::vector<linux::PerfTarget> targets_;
  bool several_kinds_ = false;
};

/// How long events that share counters run before others have their turn: on the PMU that changes soonest; the kernel's
/// usual 4 ms where it does not say (a tick of CONFIG_HZ=250).
Nanoseconds rotation_of(const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend::perf
