// What a program counted in its own regions, as plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/region.hpp"

namespace tally::result {

/// The regions of one process.
struct ProgramRegions {
  std::int64_t pid = 0;
  std::vector<std::string> command;       ///< the program and its arguments
  std::string reason;                     ///< why there are no regions, if the counters could not be opened; else empty
  std::vector<RegionResult> regions;      ///< in the order of their first entry, one Counters object after another
  std::optional<std::int32_t> rank = {};  ///< of the process in an MPI job
  std::map<std::int32_t, std::int32_t> openmp_numbers = {};  ///< by thread ID; only threads of OpenMP
  bool operator==(const ProgramRegions&) const = default;
};

/// Whether a text looks like a result of regions.
bool is_regions(std::string_view text);

/// Reads the regions from a JSON text of the schema tally-regions/1. Errors: bad_usage for another text.
Result<ProgramRegions> read_regions(std::string_view text);

}  // namespace tally::result
