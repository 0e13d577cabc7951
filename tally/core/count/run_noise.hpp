// Decides which differences between two sampled runs are more than chance. Pure.
#pragma once

#include <vector>

#include "tally/core/stats/proportion.hpp"

namespace tally {

/// A part of a whole, estimated from `samples` samples of equal weight; 0 samples: counted, not sampled.
struct SampledCount {
  double count = 0, whole = 0, samples = 0;
};

/// One row of two runs.
struct SampledRow {
  SampledCount before, after;
};

/// The noise between two runs of the same program, estimated from all compared rows.
///
/// Many rows are compared at once, so each interval is wide enough that all of them are right in 99 of 100 comparisons
/// (Bonferroni). Two runs differ by more than independent sampling: the whole machine is faster or slower (`drift`),
/// single functions are (`spread`), and samples come in bursts (`dispersion`). All three are medians over the rows, so
/// the few that really changed do not affect them.
struct RunNoise {
  double z = 1.959963984540054;  ///< half width of an interval, in standard deviations
  double drift = 1;              ///< factor of most rows from the first run to the second: 0.7 to 1.3
  double spread = 0;             ///< standard deviation of a row's factor, relative to the drift
  double dispersion = 1;         ///< variance of the samples, relative to independent ones
  bool operator==(const RunNoise&) const = default;
};

/// The least difference of one function between two runs: caches, placement in memory, clock frequency.
inline constexpr double spread_of_functions = 0.015;
/// Samples of a line move to its neighbours in the next run: in seven pairs of runs of one program, lines of malloc had
/// 0.4 to 5.6 times as many.
inline constexpr double spread_of_lines = 0.25;

/// Estimates the noise. `least_spread`: one of the two constants above.
RunNoise run_noise(const std::vector<SampledRow>& rows, double least_spread = spread_of_functions);

/// The difference of a row with its interval, which covers both the difference with drift and without. It contains 0 if
/// the change may be chance.
Estimate difference(const SampledRow& row, const RunNoise& noise);

}  // namespace tally
