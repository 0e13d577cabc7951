// Counts an event on one CPU with priority, and finds the register that counts it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/user_counter.hpp"

namespace tally::linux {

/// A register of the PMU, as instructions address it.
struct CounterPlace {
  std::uint32_t selector = 0;  ///< value of ECX for rdpmc; bit 30: a fixed counter
  unsigned width = 0;          ///< in bits
  bool operator==(const CounterPlace&) const = default;
};

/// An event that is counted on one CPU, whatever runs there, during the lifetime of this object. Can be moved, not
/// copied.
class PinnedCounter {
 public:
  /// `page`: the kernel's CounterPage for it; tests pass their own, without a counter.
  PinnedCounter(PerfCounter counter, Mapping page) : counter_(std::move(counter)), page_(std::move(page)) {}

  /// Returns its current register, which the kernel changes to make room for other counters. Nothing while no readable
  /// register counts it. Cost: some reads of memory.
  std::optional<CounterPlace> place() const;

 private:
  PerfCounter counter_;
  Mapping page_;
};

/// Counts an event on a CPU. Whether it is readable is decided when it opens: call write_rdpmc_switch() first. Errors:
/// cannot_measure with the errno of the call that failed; with 0 if other pinned events have taken all counters.
Result<PinnedCounter> pin_counter(const PerfEvent& event, int processor);

}  // namespace tally::linux
