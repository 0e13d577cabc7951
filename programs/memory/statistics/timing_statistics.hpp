// Statistics of timing series.
#pragma once

#include <span>
#include <vector>

#include "tally/core/stats/median.hpp"

namespace tally::memory {

using stats::median;

/// The q-quantile of the values, interpolated between neighbours; 0 if empty.
double quantile(std::vector<double> values, double q);

/// The median of each column. Rows have one length or are empty; empty rows are ignored.
std::vector<double> medians_by_column(const std::vector<std::vector<double>>& rows);

/// Median absolute deviation from the median.
double median_deviation(const std::vector<double>& values);

/// Two-sample Kolmogorov–Smirnov test: the probability that two samples of one distribution differ at least this much
/// (asymptotic series, with Stephens's correction for small samples). 1 if one is empty.
double kolmogorov_smirnov(std::vector<double> a, std::vector<double> b);

/// A straight line y = intercept + slope·x.
struct Line {
  double intercept = 0;
  double slope = 0;
};

/// Fits a line by least squares. `x` and `y` have the same length, at least 2, and x is not constant.
Line fit_line(std::span<const double> x, std::span<const double> y);

/// Which batches were disturbed by something else on the machine: duration > median + 6·MAD, and at least 5 % above the
/// median.
std::vector<bool> outliers(const std::vector<double>& durations);

}  // namespace tally::memory
