// Estimates that a few wild values do not move. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "tally/core/stats/median.hpp"

namespace tally::discover {

using stats::median;

/// Median of the distances from the median, as large as a standard deviation of normal values (× 1.4826).
double spread(const std::vector<double>& values);

/// A straight line.
struct Line {
  double intercept = 0, slope = 0;
};

/// The line by Theil and Sen: the median of the slopes of all pairs (Sen 1968), and the median of what is left. Points
/// of one x make no pair.
Line theil_sen(const std::vector<double>& x, const std::vector<double>& y);

/// Probability that a normal variable is above `z`.
double above(double z);

/// So many standard errors hold 99 % of Student's t of so many degrees of freedom on both sides (Cornish and Fisher's
/// expansion; within 1 % from 5 on).
double t99(int degrees);

/// The probability that Student's t is above `t` (the normal that Wallace 1959 transforms it to).
double t_above(double t, int degrees);

/// Which of these hypotheses are rejected with at most a share `q` of false rejections (Benjamini and Hochberg 1995).
std::vector<bool> benjamini_hochberg(const std::vector<double>& p, double q);

}  // namespace tally::discover
