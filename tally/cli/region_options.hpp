// Options that name regions of the program: functions, pairs of points, traps.
#pragma once

#include <string>
#include <vector>

#include "tally/cli/page.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"

namespace tally::cli {

/// What the user wrote.
struct RegionOptions {
  std::vector<std::string> functions, from, to;
  std::string trap;
  bool rdpmc = false;
};

void add_region_options(Page& app, RegionOptions& options);

/// A function or point of a program, as it is written. Errors: bad_usage.
Result<backend::CodeRegion::Point> point_of(const std::string& text);

/// Reads them. Errors: bad_usage.
Result<void> choose_regions(const RegionOptions& options, std::vector<backend::CodeRegion>& regions);

}  // namespace tally::cli
