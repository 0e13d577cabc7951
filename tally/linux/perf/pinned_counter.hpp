// Counters of a processor that stand ahead of all others, and where programs find them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "tally/core/base/result.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/user_counter.hpp"

namespace tally::linux {

/// A counter of the processor, as its instructions name it.
struct CounterPlace {
  std::uint32_t selector = 0;  ///< what rdpmc takes in ECX; bit 30: a fixed counter
  unsigned width = 0;          ///< bits that it has
  bool operator==(const CounterPlace&) const = default;
};

/// An event that is counted on one processor, whoever runs there, until this is destroyed. Moves, never copies.
class PinnedCounter {
 public:
  /// `page`: what the kernel tells of it, a CounterPage; tests give their own, and no counter.
  PinnedCounter(PerfCounter counter, Mapping page) : counter_(std::move(counter)), page_(std::move(page)) {}

  /// Where it is now: the kernel moves counters to make room for others'. Nothing while it is on no counter that may be
  /// read. Cost: some reads of memory.
  std::optional<CounterPlace> place() const;

 private:
  PerfCounter counter_;
  Mapping page_;
};

/// Counts an event on a processor. Whether it may be read is decided as it opens: write_rdpmc_switch() first. Errors:
/// cannot_measure with the errno of the call that failed; with 0 where other pinned events have left it no counter.
Result<PinnedCounter> pin_counter(const PerfEvent& event, int processor);

}  // namespace tally::linux
