// Computes the metrics of a result.
#pragma once

#include <vector>

#include "tally/counting/measure/measure_stat.hpp"

namespace tally::measure {

/// Returns the metrics of the counted events: each event relative to the one that its table names, if both were
/// counted; the requested ones, absent with a reason if one of their events is; and those of the table that fit into an
/// event's row. With several runs, a metric is the median of the runs' ratios, not a ratio of medians.
std::vector<result::Metric> metrics(const StatOptions& options, const result::Stat& stat, bool repeated);

}  // namespace tally::measure
