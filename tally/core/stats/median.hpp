// The median, shared by all of tally.
#pragma once

#include <cstdint>
#include <vector>

namespace tally::stats {

/// The middle value, or the mean of the two middle ones; 0 if empty. Cost: a partial sort of the copy.
double median(std::vector<double> values);

/// The same, with enough bits for every 64-bit integer.
long double wide_median(std::vector<long double> values);

/// For integers; the mean of two values is rounded down.
std::int64_t whole_median(std::vector<std::int64_t> values);

}  // namespace tally::stats
