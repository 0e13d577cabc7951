// The counters of an order: opened on its targets, read as one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tally/core/count/count.hpp"
#include "tally/counting/backend/conductor.hpp"
#include "tally/counting/backend/perf/encode.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend::perf {

/// Why the kernel did not open a counter, in words.
std::string why_refused(int os_errno, const event::Event& event);

/// What the PMUs of different kinds of cores counted of one event. Each counts on its own cores only, so that none of
/// them ran all the time, and what was missed cannot be told from what ran elsewhere: nothing is scaled. `by_turns`: of
/// threads, which run on one kind at a time. Counted where the times add up to all of it, else partial. Pure.
Count of_core_types(const std::vector<Reading>& kinds, const CountSource& source, bool by_turns);

/// The part of a whole that the PMU of one kind of cores counted: what it has is as trustworthy as the whole. Pure.
Count of_kind(const Count& whole, const Reading& own, const std::string& core);

/// Why an open counter could not be read, in words.
std::string why_unreadable(int os_errno);

/// What one system call reads: a counter, or a group by its leader.
struct GroupRead {
  int group = 0;                         ///< of the events; 0: none
  std::string pmu = {};                  ///< of its members so far; empty while all of them are the kernel's own events
  bool whole_group = false;              ///< else each member is read by itself
  std::vector<std::size_t> places = {};  ///< of its counters, the leader's first
  bool operator==(const GroupRead&) const = default;
};

/// The one that a counter of this group and PMU (empty: one of the kernel's own events) joins: a group has a leader on
/// each PMU, and the kernel's own events go with any. Null where it becomes a leader itself. Pure.
GroupRead* leader_for(std::span<GroupRead> reads, int group, const std::string& pmu);

/// Counters for the events of an order, in their groups. Each target gets its own; what is read is the sum of all.
class Counters final : public Meter {
 public:
  Counters(const std::vector<event::Event>& events, const std::vector<linux::PmuDevice>& cores);
  Counters(Counters&&) = default;
  Counters& operator=(Counters&&) = default;

  /// Opens all of them on one more target: threads, or processors. What does not open is told by errors and counts.
  /// Cost: a system call each.
  void open(const linux::PerfTarget& target);

  /// Closes those of the targets from this one on, by the order in which they were opened.
  void forget(std::size_t first_target);

  /// Makes every count partial, for this reason.
  void doubt(std::string why) { doubt_ = std::move(why); }

  /// Starts those that wait to be told.
  void enable() override;

  /// The first errno of the events that did not open; 0 where all did.
  int first_errno() const;

  /// Whether an event is counted in user mode alone.
  bool any_in_user_mode() const;

  /// How many are open.
  std::size_t size() const;

  /// What read() reads by one system call each, in the order in which they were opened.
  const std::vector<GroupRead>& reads() const { return reads_; }

  /// How many targets there are.
  std::size_t targets() const { return targets_.size(); }

  /// Reads all counters. Returns the count of each event, in the order of the events; absent with the reason where none
  /// opened. Cost: a system call for each group, and for each counter that is in none.
  std::vector<Count> read() override;

  /// What some targets had at the last read(), by the order in which they were opened.
  std::vector<Count> of(const std::vector<std::size_t>& targets) const;

  /// The same of the cores of one kind alone, by the name of their PMU: of the events that it counts, with their
  /// places. Empty where there is one kind only. Nothing is scaled: the trust is that of the whole.
  std::vector<std::pair<std::size_t, Count>> of_core(const std::string& core,
                                                     const std::vector<std::size_t>& targets) const;

  /// Others for the same events, with no target. Cost: less than to find out again how the kernel calls them.
  Counters another() const;

  /// Counts of nothing, in the order of the events.
  std::vector<Count> nothing() const;

 private:
  Counters() = default;
  struct One {
    event::Event event;
    std::vector<Encoded> kinds;  // one for each kind of cores that it is counted on
    int os_errno = 0;            // of the last one that did not open
    std::size_t first = 0;       // the place of its first kind among all of a target's counters
  };
  // What a counter held when it was read last, or why nobody knows.
  struct Held {
    Reading reading;
    int os_errno = 0;
  };
  void open(One& one, std::size_t kind, linux::PerfTarget target, std::size_t first_read);
  std::size_t place(const One& one, std::size_t target, std::size_t kind) const {
    return target * width_ + one.first + kind;
  }
  bool is_elsewhere(const One& one, std::size_t target, std::size_t kind) const;
  Count count_of(const One& one, const std::vector<std::size_t>& targets) const;
  Count sum_of(const One& one, const std::vector<std::vector<Reading>>& readings) const;
  std::vector<std::size_t> all_targets() const;

  std::vector<One> all_;
  std::vector<linux::PerfTarget> targets_;
  std::vector<linux::PerfCounter> opened_;  // by target, then by event, then by kind
  std::vector<Held> held_;                  // the same
  std::vector<GroupRead> reads_;
  std::size_t width_ = 0;  // counters of a target
  bool several_kinds_ = false;
  std::string doubt_;  // why all of it may lack something
};

/// How long events that share counters run before others have their turn: on the PMU that changes soonest; the kernel's
/// usual 4 ms where it does not say (a tick of CONFIG_HZ=250).
Nanoseconds rotation_of(const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend::perf
