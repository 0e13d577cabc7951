// Counters that sample the code of threads and of their descendants, with their ring buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/perf/encode.hpp"
#include "tally/counting/backend/perf/merged_rings.hpp"
#include "tally/linux/perf/code_record.hpp"

namespace tally::backend::perf {

/// The events of an order, with how to sample them.
struct CodeEvents {
  struct SampledEvent {
    std::vector<linux::PerfEvent> kinds;  ///< one for each kind of cores
    result::EventSampling sampling;       ///< settings of the samples
    CountSource source;                   ///< as in Encoded, of all kinds of cores
    std::string doubt;                    ///< as in Encoded
  };
  std::vector<SampledEvent> events;
  bool calls = false;
};

/// Returns how each event of the order can be sampled. Opens counters on this thread to find what the kernel accepts.
/// Errors: cannot_measure if an event does not occur at an instruction, or the kernel cannot sample it.
Result<CodeEvents> code_events(const Order& order, const std::vector<linux::PmuDevice>& cores);

/// Each CPU has a ring for process records (mappings, forks, names) and one for samples, which would crowd them out.
class CodeCounters {
 public:
  explicit CodeCounters(const CodeEvents& events);

  /// Opens counters on a thread and its descendants, or on everything that runs (−1). Errors: cannot_measure.
  Result<void> open(std::int32_t thread, linux::PerfStart start);

  /// Starts counters that do not start by themselves. Process records arrive from the opening on.
  void enable() const;
  void disable() const;

  /// Calls `use_counter` with each counter's ID and the index of its event.
  void name_counters(const std::function<void(std::uint64_t, std::size_t)>& use_counter) const;
  /// Returns descriptors that become readable when a ring fills.
  std::vector<int> descriptors() const;
  /// See MergedRings::take().
  void take(std::int64_t until_ns, const std::function<void(const linux::CodeRecord&)>& visit) {
    rings_.take(until_ns, visit);
  }
  /// Returns the sum of an event's counters over all threads: value, time enabled and time running. Cost: a system call
  /// for each counter.
  linux::PerfValue total(std::size_t event) const;

 private:
  struct CpuCounters {
    int processor = 0;
    std::size_t process_records = 0, samples = 0;  // indexes of the counters that own the rings
  };
  struct Opened {
    linux::PerfCounter counter;
    std::size_t event = 0;  // none: a counter for process records
  };
  static constexpr std::size_t none = ~std::size_t{0};
  Result<void> open_on(std::int32_t thread, int processor, linux::PerfStart start);
  Result<void> open_events(const linux::PerfTarget& target, std::vector<Opened>& opened) const;
  Result<void> map_rings(int processor, std::size_t first);

  const CodeEvents& events_;
  std::vector<Opened> counters_;
  std::vector<CpuCounters> processors_;
  MergedRings<linux::CodeRecord> rings_;
  std::size_t pages_ = 0;  // of a ring for samples
  bool everywhere_ = false;
};

}  // namespace tally::backend::perf
