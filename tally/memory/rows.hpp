// From timings to the rows and the verdict of a result.
#pragma once

#include <vector>

#include "tally/memory/analysis/points.hpp"
#include "tally/result/memory.hpp"

namespace tally::memory {

/// Fills in what these mappings say of a row's time.
void set_timing(result::MemoryPoint& row, const std::vector<MappingSample>& mappings);

/// The verdict that follows from a result's points, and from the reference ring beside them.
void judge(result::Memory& result, const std::vector<double>& references);

}  // namespace tally::memory
