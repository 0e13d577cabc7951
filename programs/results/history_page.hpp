// The page of a history.
#pragma once

#include <string>

#include "programs/results/result_commands.hpp"
#include "tally/output/result/history_result.hpp"

namespace tally::results {

/// A self-contained page: a chart of each series with its changes, and the results and their commits.
std::string history_html(const result::History& history);

}  // namespace tally::results
