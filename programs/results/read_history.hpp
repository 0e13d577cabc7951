// Reads the file of --history.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/output/result/history_result.hpp"

namespace tally::history {

/// Whether a file is a history.
bool is_history(const std::string& path);

/// Reads a history. Errors: bad_usage.
Result<result::History> read_history(const std::string& path);

}  // namespace tally::history
