// Writes that take far longer than the others: do they come in time with the writes, or with the clock?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tally::memory {

/// One write that was slow.
struct Outlier {
  std::int64_t write = 0;  ///< its number
  double ns = 0;           ///< or ticks: whatever the series is in
};

/// What a series of them says.
struct Tails {
  std::size_t events = 0;
  double mean_gap = 0;  ///< in writes
  double shortest_gap = 0;
  double longest_gap = 0;
  double variation = 0;  ///< standard deviation of the gaps / their mean: 1 for events that know nothing of each other
  double median = 0;     ///< of the outliers
  bool periodic = false;
};

/// Operations that took more than ten times the median.
std::vector<Outlier> outlying(std::span<const double> durations);

/// Periodic: variation < 0.35 with at least 8 gaps, and, where `seconds` is not 0, more of them in a second than the
/// same loop without writes had (`control_events` in `control_seconds`).
Tails judge_tails(std::span<const Outlier> outliers, double seconds = 0, std::size_t control_events = 0,
                  double control_seconds = 0);

}  // namespace tally::memory
