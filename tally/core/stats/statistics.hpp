// Arithmetic on series of timings.
#pragma once

#include <span>
#include <vector>

#include "tally/core/stats/median.hpp"

namespace tally::memory {

using stats::median;

/// The value that a share q of the values does not exceed, interpolated between neighbours; 0 of nothing.
double quantile(std::vector<double> values, double q);

/// Place by place over rows that are of one length, or empty: of each place the median of what the others have.
std::vector<double> medians_by_place(const std::vector<std::vector<double>>& rows);

/// Median absolute deviation from the median.
double median_deviation(const std::vector<double>& values);

/// Two-sample Kolmogorov–Smirnov: the probability that two samples of one distribution differ as much as these (the
/// asymptotic series, with Stephens's correction for small samples). 1 where one is empty.
double kolmogorov_smirnov(std::vector<double> a, std::vector<double> b);

/// A straight line y = intercept + slope·x.
struct Line {
  double intercept = 0;
  double slope = 0;
};

/// Least squares. `x` and `y` are of one length, at least 2, and x is not constant.
Line fit_line(std::span<const double> x, std::span<const double> y);

/// Which batches a machine that did something else has made longer: duration > median + 6·MAD, and by at
/// least 2 %.
std::vector<bool> outliers(const std::vector<double>& durations);

}  // namespace tally::memory
