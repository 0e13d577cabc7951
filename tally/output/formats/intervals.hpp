// Counts of intervals, in each form that has a place for them: told while they are counted, or with the result.
#pragma once

#include <string>

#include "tally/output/formats/stat_format.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::report {

/// For people: a line for each event, with the second in which the interval ended, and with the run where the style has
/// run numbers.
std::string interval_lines(const result::Interval& interval, const Style& style);

/// Rows of csv, after the header where the style has one.
std::string interval_csv(const result::Interval& interval, const Style& style);

/// As `perf stat -I -x`: the second first.
std::string interval_fields(const result::Interval& interval, const Style& style);

}  // namespace tally::report
