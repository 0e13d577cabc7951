// Finds the points at which the level of a noisy series changes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "programs/results/result_commands.hpp"

namespace tally::results {

/// The first indexes of the segments of a series after the first segment, in ascending order.
///
/// The method is PELT (Killick, Fearnhead, Eckley: Optimal detection of changepoints with a linear computational cost,
/// JASA 2012) with the sum of absolute deviations from the segment's median as cost (Bai: Estimation of multiple-regime
/// regressions with least absolutes deviation, 1998), which single outliers hardly change. The scale is estimated from
/// the median difference of neighbours, so that changes of level do not increase it. A change costs 3 ln n scales.
///
/// A segment has at least three values: an outlier is no segment. Cost: quadratic in the length of the longest segment.
std::vector<std::size_t> change_points(std::span<const double> values);

/// The median of values; of two middle ones, the upper one.
double upper_median(std::vector<double> values);

}  // namespace tally::results
