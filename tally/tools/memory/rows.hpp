// From timings to the rows and the verdict of a result.
#pragma once

#include <vector>

#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/analysis/advice.hpp"
#include "tally/tools/memory/analysis/points.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// Fills in what these mappings say of a row's time.
void set_timing(result::MemoryPoint& row, const std::vector<MappingSample>& mappings);

/// The same of a point that was looked at before; the mappings are the caller's to say.
void set_timing(result::MemoryPoint& row, const PointSummary& summary);

/// The same of single operations, one after the other, in nanoseconds.
void set_timing(result::MemoryPoint& row, const std::vector<double>& ns);

/// A row of laps over `n` lines, `stride_bytes` apart, in random order: all but what was found.
result::MemoryPoint lap_row(const Runner& runner, const result::Memory& result, std::uint64_t n,
                            std::uint64_t stride_bytes);

/// How the run was started, for what is advised about it.
Circumstances circumstances(const Runner& runner);

/// The verdict that follows from a result's points, and from the reference ring beside them.
void judge(result::Memory& result, const std::vector<double>& references);

}  // namespace tally::memory
