// The page of a history.
#pragma once

#include <string>

#include "tally/output/result/history.hpp"

namespace tally::report {

/// A self-contained page: a chart of each series with its changes, and the results and their commits.
std::string history_html(const result::History& history);

}  // namespace tally::report
