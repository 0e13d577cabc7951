// Counts of a PMU beside the timings: what a batch did, for each of its steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"
#include "tally/output/result/memory.hpp"

namespace tally::memory {

/// What was counted between two readings of a group of counters, for each of `steps`. Empty where the kernel lent the
/// counters to somebody else for a part of that time: what is left would have to be estimated.
std::vector<double> counts_per_step(std::span<const linux::PerfValue> before, std::span<const linux::PerfValue> after,
                                    std::uint64_t steps);

/// The counters of the calling thread, in user mode: instructions, cycles, and misses of each level as far as its
/// processor counts them at once. Neither more than fit together nor in turns.
class BatchCounters {
 public:
  /// None are open.
  BatchCounters() = default;

  /// Opens what can be opened; where that is nothing, why() says why. Cost: some milliseconds, for the names.
  static BatchCounters open();

  bool any() const { return !open_.empty(); }

  /// What they hold now; empty where none is open or the kernel gives nothing. Cost: one system call.
  std::vector<linux::PerfValue> read() const;

  /// Every count that was wanted, with its source, or why there is none; empty where none is open.
  const std::vector<result::MemoryCounter>& rows() const { return rows_; }

  /// Why none is open; empty where one is.
  const std::string& why() const { return why_; }

 private:
  void add(std::string_view name, std::string_view text);

  std::vector<linux::PerfCounter> open_;  ///< one group; the first leads it
  std::vector<result::MemoryCounter> rows_;
  std::string why_;
};

}  // namespace tally::memory
