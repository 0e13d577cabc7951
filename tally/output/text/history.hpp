// A history for people.
#pragma once

#include <cstddef>
#include <string>

#include "tally/output/result/history.hpp"

namespace tally::report {

/// "+2.13 %", "+0.00013 %"; empty without a value before.
std::string percent_change(double before, double after);

/// A row with the trend of each series, and the changes.
std::string history_table(const result::History& history, const result::Provenance& provenance, std::size_t terminal);

}  // namespace tally::report
