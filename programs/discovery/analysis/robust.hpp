// Statistics that are robust against outliers. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "tally/core/stats/median.hpp"

namespace tally::discover {

using stats::median;

/// The median absolute deviation, × 1.4826 so that it equals the standard deviation of normal values.
double spread(const std::vector<double>& values);

/// A straight line.
struct Line {
  double intercept = 0, slope = 0;
};

/// The Theil–Sen line: the median of the slopes of all pairs (Sen 1968), and the median of the remainders. Skips pairs
/// of points with equal x.
Line theil_sen(const std::vector<double>& x, const std::vector<double>& y);

/// The probability that a standard normal variable is above `z`.
double above(double z);

/// The two-sided 99 % quantile of Student's t (Cornish–Fisher expansion; within 1 % from 5 degrees on).
double t99(int degrees);

/// The probability that Student's t is above `t` (normal approximation by Wallace, 1959).
double t_above(double t, int degrees);

/// Which hypotheses are rejected at a false discovery rate of at most `q` (Benjamini and Hochberg 1995).
std::vector<bool> benjamini_hochberg(const std::vector<double>& p, double q);

}  // namespace tally::discover
