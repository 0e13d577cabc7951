// The arguments of `tally stat`, for commands that run it again.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/measure/measure_stat.hpp"

namespace tally::cli {

/// Reads the arguments of `tally stat` as run_stat() does: the order, without baselines and outputs. Errors: bad_usage.
Result<measure::StatOptions> read_stat_options(const std::vector<std::string>& arguments);

}  // namespace tally::cli
