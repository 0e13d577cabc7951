// Which differences between two sampled runs are more than chance. Pure.
#pragma once

#include <vector>

#include "tally/core/stats/proportion.hpp"

namespace tally {

/// What was counted of a whole, by so many samples of equal weight; 0 samples: every single one was counted.
struct SampledCount {
  double count = 0, whole = 0, samples = 0;
};

/// One row of two runs.
struct SampledRow {
  SampledCount before, after;
};

/// What differs between two runs of the same program, beside sampling: estimated from all rows that are compared.
///
/// Many rows are compared at once, so that the interval of each is as wide as it takes for all of them to be right in
/// 99 of 100 comparisons (Bonferroni). Two runs differ by more than chance samples: the machine is faster or slower as
/// a whole (`drift`), single functions are (`spread`), and samples come in bunches (`dispersion`). All three are
/// medians of rows, so that a few that really changed do not hide in them.
struct RunNoise {
  double z = 1.959963984540054;  ///< so many standard deviations to either side
  double drift = 1;              ///< what most rows were multiplied with from one run to the other: 0.7 to 1.3
  double spread = 0;             ///< of a row's factor, beside the drift: its standard deviation
  double dispersion = 1;         ///< variance of samples: so many times that of independent ones
  bool operator==(const RunNoise&) const = default;
};

/// Two runs of one function differ by so much at least: caches, placement in memory, the clock of the processor.
inline constexpr double spread_of_functions = 0.015;
/// Samples of a line are met at its neighbours in the next run: in seven pairs of runs of one program lines of malloc
/// had 0.4 to 5.6 times as many.
inline constexpr double spread_of_lines = 0.25;

/// `least_spread`: one of these.
RunNoise run_noise(const std::vector<SampledRow>& rows, double least_spread = spread_of_functions);

/// The difference of a row, and between what it lies: both with the drift and without. It has 0 in it where the change
/// may be chance.
Estimate difference(const SampledRow& row, const RunNoise& noise);

}  // namespace tally
