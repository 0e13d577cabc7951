// Groups of counters that sample for windows, on threads and all that these begin.
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

/// The events of windows, as the kernel takes them together.
struct WindowEvents {
  linux::PerfEvent trigger;
  CountSource source;                              ///< what counts the trigger
  std::uint64_t every = 1;                         ///< 0: not fixed, and
  std::uint64_t frequency = 0;                     ///< so many records a second
  bool is_clock = false;                           ///< the trigger counts nanoseconds
  std::vector<linux::PerfEvent> others;            ///< counted with it
  std::vector<std::optional<std::size_t>> places;  ///< of each event asked, among the trigger (0) and the others (1 …)
  result::WindowsHead head;                        ///< but for its places
};

/// What a order's windows count here. Opens their counters once, on this thread, to see which the kernel counts
/// together. Errors: bad_usage for more than one trigger; cannot_measure for a trigger that the kernel does not count.
Result<WindowEvents> window_events(const WindowOrder& order, const std::vector<linux::PmuDevice>& cores);

/// How the trigger's counter writes records.
linux::PerfSampling sampling_of(const WindowEvents& events);

/// Whether the kernel lets threads inherit a group that writes the counts of all into its records: since Linux 6.12
/// (commit 7e8b255650fc). Cost: a system call.
bool can_inherit_samples(const WindowEvents& events);

/// The rings and groups, one on each processor for each thread that they are opened on. Those that a thread begins
/// inherit them; what they had when they ended comes as a record. Nobody is traced.
class WindowGroups {
 public:
  explicit WindowGroups(const WindowEvents& events) : events_(events) {}

  /// Errors: cannot_measure.
  Result<void> open(std::int32_t thread, linux::PerfStart start);

  /// Calls `told` with each counter's number, and the root, processor and place it has: see WindowMaker.
  void name_counters(const std::function<void(std::uint64_t, std::size_t, std::size_t, std::size_t)>& told) const;

  std::size_t processors() const { return processors_.size(); }
  /// The trigger, the trigger again, the others.
  std::size_t width() const { return 2 + events_.others.size(); }
  /// Of memory for each processor.
  std::size_t ring_bytes() const { return ring_bytes_; }

  /// Lets those count that were opened on the roots from this one on.
  void enable(std::size_t first_root = 0) const;
  void disable() const;
  /// The last roots, as if they had not been opened; the first one stays.
  void close_after(std::size_t roots);

  /// Descriptors that become readable when a ring is filling.
  std::vector<int> descriptors() const;

  /// Visits what came until `until_ns` by linux::now(), those of all rings by their time.
  void take(std::int64_t until_ns, const std::function<void(const linux::SampleRecord&)>& visit);

  /// What all counters hold, by root, processor and place. Cost: a system call each.
  std::vector<linux::PerfValue> totals() const;

 private:
  struct OneProcessor {
    int processor;
    std::size_t samples, counts;  // their rings
    int samples_fd, counts_fd;    // the counters that these belong to
  };
  Result<void> find_processors(std::int32_t thread, linux::PerfStart start);
  Result<std::vector<linux::PerfCounter>> open_group(std::int32_t thread, int processor, linux::PerfStart start) const;
  Result<void> add_rings(int processor, const std::vector<linux::PerfCounter>& group);

  const WindowEvents& events_;
  std::vector<OneProcessor> processors_;
  MergedRings<linux::SampleRecord> rings_{linux::sample_record};
  std::vector<linux::PerfCounter> counters_;  // by root, processor and place
  std::size_t ring_bytes_ = 0;
};

}  // namespace tally::backend::perf
