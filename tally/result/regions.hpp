// What a program counted of its own regions, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tally/count/region.hpp"

namespace tally::result {

/// The regions of one process.
struct ProgramRegions {
  std::int64_t pid = 0;
  std::vector<std::string> command;   ///< the program and its arguments
  std::vector<RegionResult> regions;  ///< in the order of their first entry, of one Counters after the other
  bool operator==(const ProgramRegions&) const = default;
};

}  // namespace tally::result
