// The median: one place for all of tally.
#pragma once

#include <cstdint>
#include <vector>

namespace tally::stats {

/// The middle value, or the mean of the two middle ones; 0 of nothing. Cost: a partial sort of the copy.
double median(std::vector<double> values);

/// The same of whole numbers; a mean of two is rounded down.
std::int64_t whole_median(std::vector<std::int64_t> values);

}  // namespace tally::stats
