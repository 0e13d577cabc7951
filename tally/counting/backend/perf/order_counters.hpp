// The counters of an order: opened on several targets, read as one.
#pragma once

#include <cstddef>
#include <optional>
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

/// Returns in words why the kernel did not open a counter.
std::string why_refused(int os_errno, const event::Event& event);

/// Returns the sum of what the PMUs of different kinds of cores counted of one event. Each counts on its own cores, and
/// time on others cannot be distinguished from time without a counter: nothing is scaled. `by_turns`: the target is a
/// thread, which runs on one kind at a time. The trust is counted if the times add up to all of it, else partial. Pure.
Count of_core_types(const std::vector<Reading>& kinds, const CountSource& source, bool by_turns);

/// Returns the part of a whole that the PMU of one kind of cores counted, with the trust of the whole. Pure.
Count of_kind(const Count& whole, const Reading& own, const std::string& core);

/// Returns in words why an open counter could not be read.
std::string why_unreadable(int os_errno);

/// Returns why the counters of a CPU miss something that were enabled for `elapsed` and that the kernel counted for
/// `enabled`; empty if they do not. The kernel ends them when the CPU goes offline, also if it comes back. Pure.
std::string why_ended(int processor, Nanoseconds enabled, Nanoseconds elapsed);

/// The counters that one system call reads: a single one, or a group through its leader.
struct GroupRead {
  int group = 0;             ///< group of the events; 0: none
  std::string pmu = {};      ///< PMU of its members so far; empty while all of them are the kernel's own events
  bool whole_group = false;  ///< false: each member is read by itself
  std::vector<std::size_t> places = {};  ///< indexes of its counters, the leader's first
  bool operator==(const GroupRead&) const = default;
};

/// Returns the group that a counter of this group and PMU (empty: one of the kernel's own events) joins; null if it
/// becomes a leader itself. A group has a leader on each PMU, and the kernel's own events join any of them. Pure.
GroupRead* leader_for(std::span<GroupRead> reads, int group, const std::string& pmu);

/// Counters for the events of an order, in their groups. Each target has its own counters; reads return their sum.
class Counters final : public Meter {
 public:
  Counters(const std::vector<event::Event>& events, const std::vector<linux::PmuDevice>& cores);
  Counters(Counters&&) = default;
  Counters& operator=(Counters&&) = default;

  /// Opens all counters on one more target: threads or CPUs. Counts and first_errno() report those that do not open.
  /// Cost: a system call for each.
  void open(const linux::PerfTarget& target);

  /// Closes the counters of this target and of those that were opened after it.
  void forget(std::size_t first_target);

  /// Makes every count partial, with this reason.
  void doubt(std::string why) { doubt_ = std::move(why); }

  /// Starts counters that do not start by themselves.
  void enable() override;
  void disable() override;

  /// Returns the first errno of the events that did not open; 0 if all did.
  int first_errno() const;

  /// Whether an event is counted in user mode only.
  bool any_in_user_mode() const;

  /// Returns the number of open counters.
  std::size_t size() const;

  /// Returns what read() reads by one system call each, in the order of opening.
  const std::vector<GroupRead>& reads() const { return reads_; }

  /// Returns the number of targets.
  std::size_t targets() const { return targets_.size(); }

  /// Reads all counters. Returns the count of each event, in the order of the events; absent with the reason where none
  /// opened. Cost: a system call for each group, and for each counter that is in none.
  std::vector<Count> read() override;

  /// Returns the counts of some targets at the last read(). Targets are numbered in the order of opening.
  std::vector<Count> of(const std::vector<std::size_t>& targets) const;

  /// Returns the same for the cores of one kind, by the name of their PMU: the events that it counts, with their
  /// indexes. Empty if there is only one kind. Nothing is scaled: the trust is that of the whole.
  std::vector<std::pair<std::size_t, Count>> of_core(const std::string& core,
                                                     const std::vector<std::size_t>& targets) const;

  /// Returns counters for the same events without a target. Cheaper than encoding the events again.
  Counters another() const;

  /// Returns counts of 0 in the order of the events.
  std::vector<Count> nothing() const;

 private:
  Counters() = default;
  struct EventCounters {
    event::Event event;
    std::vector<Encoded> kinds;  // one for each kind of cores that counts it
    int os_errno = 0;            // of the last counter that did not open
    std::size_t first = 0;       // index of its first kind among the counters of a target
  };
  // The value of a counter at the last read(), or why it could not be read.
  struct LastReading {
    Reading reading;
    int os_errno = 0;
  };
  void open(EventCounters& one, std::size_t kind, linux::PerfTarget target, std::size_t first_read);
  std::size_t index_of(const EventCounters& one, std::size_t target, std::size_t kind) const {
    return target * width_ + one.first + kind;
  }
  bool is_elsewhere(const EventCounters& one, std::size_t target, std::size_t kind) const;
  std::string why_target_ended(const EventCounters& one, std::size_t target) const;
  Count count_of(const EventCounters& one, const std::vector<std::size_t>& targets) const;
  Count of_machine(const EventCounters& counters, const std::vector<std::vector<Reading>>& readings) const;
  Count sum_of(const EventCounters& one, const std::vector<std::vector<Reading>>& readings) const;
  std::vector<std::size_t> all_targets() const;

  std::vector<EventCounters> all_;
  std::vector<linux::PerfTarget> targets_;
  std::vector<linux::PerfCounter> opened_;  // by target, then by event, then by kind
  std::vector<LastReading> last_;           // in the same order
  std::vector<GroupRead> reads_;
  std::size_t width_ = 0;  // counters of a target
  bool several_kinds_ = false;
  std::string doubt_;                      // why every count may miss something
  Nanoseconds elapsed_{0};                 // while the counters were enabled, until the last disable()
  std::optional<Nanoseconds> enabled_at_;  // since when they are enabled again
  Nanoseconds elapsed_at_read_{0};
};

/// Returns how long events that share counters run before others replace them: the shortest period of the PMUs; the
/// kernel's usual 4 ms (a tick of CONFIG_HZ=250) if no PMU has one.
Nanoseconds rotation_of(const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend::perf
