// PMU counts per step of each timed batch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// The difference between two readings of a group of counters, divided by `steps`. Empty if the kernel multiplexed the
/// group during that time, because the counts would then be estimates.
std::vector<double> counts_per_step(std::span<const linux::PerfValue> before, std::span<const linux::PerfValue> after,
                                    std::uint64_t steps);

/// The PMU counters of the calling thread, in user mode: instructions, cycles and the misses of each level, as far as
/// the processor can count them at the same time. Never multiplexed.
class BatchCounters {
 public:
  /// Opens no counter.
  BatchCounters() = default;

  /// Opens as many counters as possible; if it opens none, why() returns the reason. Takes some milliseconds to resolve
  /// the names.
  static BatchCounters open();

  bool any() const { return !open_.empty(); }

  /// Reads the counters; empty if none is open or the read fails. One system call.
  std::vector<linux::PerfValue> read() const;

  /// Every requested count, with its source or the reason why it is missing; empty if no counter is open.
  const std::vector<result::MemoryCounter>& rows() const { return rows_; }

  /// Why no counter is open; empty if one is.
  const std::string& why() const { return why_; }

 private:
  void add(std::string_view name, std::string_view text);

  std::vector<linux::PerfCounter> open_;  ///< one group, leader first
  std::vector<result::MemoryCounter> rows_;
  std::string why_;
};

}  // namespace tally::memory
