// Bounds of metrics that are computed from estimates.
#pragma once

#include <optional>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::output {

struct MetricBounds {
  double low = 0, high = 0;
};

/// The bounds of an estimate; nothing if the count is not estimated.
std::optional<MetricBounds> estimate_bounds(const Count& count);

/// The smallest and the largest value of the metric for the bounds of the estimates in its formula; nothing without
/// estimates. user_time and system_time are parts of a sum that is exact.
std::optional<MetricBounds> metric_bounds(const result::Metric& metric, const std::vector<result::Event>& events);

}  // namespace tally::output
