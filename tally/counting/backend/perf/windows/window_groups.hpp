// Groups of counters that sample windows of threads and of their descendants.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/perf/encode.hpp"
#include "tally/counting/backend/perf/merged_rings.hpp"
#include "tally/linux/perf/sample_record.hpp"

namespace tally::backend::perf {

/// The events of windows, encoded as a group.
struct WindowEvents {
  linux::PerfEvent trigger;
  CountSource source;                    ///< what counts the trigger
  std::uint64_t every = 1;               ///< 0: not fixed; then
  std::uint64_t frequency = 0;           ///< records per second
  bool is_clock = false;                 ///< the trigger counts nanoseconds
  std::vector<linux::PerfEvent> others;  ///< the other events of the group
  std::vector<std::optional<std::size_t>>
      places;                ///< for each requested event: its index among the trigger (0) and the others (1 …)
  result::WindowsHead head;  ///< without its `places`
};

/// Returns the events to count for an order's windows. Opens their counters once here, to find which the kernel counts
/// together. Errors: bad_usage for more than one trigger; cannot_measure for one that the kernel does not count.
Result<WindowEvents> window_events(const Order& order, const std::vector<linux::PmuDevice>& cores);

/// Returns how the trigger's counter writes records.
linux::PerfSampling sampling_of(const WindowEvents& events);

/// Whether threads inherit a group that writes the counts of all its events into its records: since Linux 6.12 (commit
/// 7e8b255650fc). Cost: a system call.
bool can_inherit_samples(const WindowEvents& events);

/// Rings for each CPU, and groups: for each thread that they are opened on, one on each CPU. Descendants of the thread
/// inherit the groups; a record reports their final counts. No process is traced.
class WindowGroups {
 public:
  explicit WindowGroups(const WindowEvents& events) : events_(events) {}

  /// Opens the groups of a thread, which becomes the next root. Errors: cannot_measure.
  Result<void> open(std::int32_t thread, linux::PerfStart start);

  /// Calls `use_counter` with each counter's ID, root, CPU and index in its group: see WindowMaker.
  void name_counters(
      const std::function<void(std::uint64_t, std::size_t, std::size_t, std::size_t)>& use_counter) const;

  std::size_t processors() const { return processors_.size(); }
  /// Returns the number of counters in a group: the trigger, the trigger again, the others.
  std::size_t width() const { return 2 + events_.others.size(); }
  /// Returns the bytes of a ring of samples on each CPU.
  std::size_t ring_bytes() const { return ring_bytes_; }

  /// Starts the groups of this root and of later ones.
  void enable(std::size_t first_root = 0) const;
  void disable() const;
  /// Closes the groups of all but the first `roots` roots; the first one must stay.
  void close_after(std::size_t roots);

  /// Returns descriptors that become readable when a ring fills.
  std::vector<int> descriptors() const;

  /// Visits the records up to `until_ns`, by linux::now(), of all rings in the order of time.
  void take(std::int64_t until_ns, const std::function<void(const linux::SampleRecord&)>& visit);

  /// Returns the values of all counters, by root, CPU and index in the group. Cost: a system call for each.
  std::vector<linux::PerfValue> totals() const;

 private:
  struct CpuCounters {
    int processor;
    std::size_t samples, counts;  // indexes of their rings
    int samples_fd, counts_fd;    // descriptors of the counters that own them
  };
  Result<void> find_processors(std::int32_t thread, linux::PerfStart start);
  Result<std::vector<linux::PerfCounter>> open_group(std::int32_t thread, int processor, linux::PerfStart start) const;
  Result<void> add_rings(int processor, const std::vector<linux::PerfCounter>& group);

  const WindowEvents& events_;
  std::vector<CpuCounters> processors_;
  MergedRings<linux::SampleRecord> rings_{linux::sample_record};
  std::vector<linux::PerfCounter> counters_;  // by root, CPU and index in the group
  std::size_t ring_bytes_ = 0;
};

}  // namespace tally::backend::perf
