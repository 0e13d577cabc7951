// Files with results, as `export` and `report` read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/result/stat.hpp"

namespace tally::cli {

/// The results of `tally stat`, or of HPCTool, in the text of `file`. Errors: bad_usage, with the place.
Result<std::vector<result::Stat>> stored_stats(std::string_view text, const std::string& file);

}  // namespace tally::cli
