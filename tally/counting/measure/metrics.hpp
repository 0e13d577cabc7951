// The metrics of a result.
#pragma once

#include <vector>

#include "tally/counting/measure/stat.hpp"

namespace tally::measure {

/// The metrics of what was counted: each event compared with the one that its table names, where both were counted;
/// those that were asked for, absent with a reason where an event of theirs is; and those of the table that fit into
/// the row of an event. With several runs each is made of the runs' own ratios, not of two medians.
std::vector<result::Metric> metrics(const StatOptions& options, const result::Stat& stat, bool repeated);

}  // namespace tally::measure
