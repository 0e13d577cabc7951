// Counts of intervals in each format that supports them, printed during the run or with the result.
#pragma once

#include <string>

#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// Text: a line for each event, with the second in which the interval ended, and with the run if the style has run
/// numbers.
std::string interval_lines(const result::Interval& interval, const Style& style);

/// CSV rows, after the header if the style has one.
std::string interval_csv(const result::Interval& interval, const Style& style);

/// As `perf stat -I -x`: the time comes first.
std::string interval_fields(const result::Interval& interval, const Style& style);

/// As `perf stat -I -j`: the time comes first.
std::string interval_perf_json(const result::Interval& interval, const Style& style);

}  // namespace tally::output
