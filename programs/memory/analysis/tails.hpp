// Analyses writes that take far longer than the others: whether they recur by number of writes or by time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tally::memory {

/// One slow write.
struct Outlier {
  std::int64_t write = 0;  ///< index of the write
  double ns = 0;           ///< or ticks, if the series is in ticks
};

/// Statistics of the slow writes.
struct Tails {
  std::size_t events = 0;
  double mean_gap = 0;  ///< in writes
  double shortest_gap = 0;
  double longest_gap = 0;
  double variation = 0;  ///< standard deviation of the gaps / their mean: 1 for independent events
  double median = 0;     ///< duration of the slow writes
  bool periodic = false;
};

/// Operations that took more than ten times the median.
std::vector<Outlier> outlying(std::span<const double> durations);

/// Periodic: variation < 0.35 with at least 8 gaps; and, if `seconds` is not 0, more events per second than the same
/// loop without writes (`control_events` in `control_seconds`).
Tails judge_tails(std::span<const Outlier> outliers, double seconds = 0, std::size_t control_events = 0,
                  double control_seconds = 0);

}  // namespace tally::memory
