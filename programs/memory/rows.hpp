// Converts timings to the rows and the verdict of a result.
#pragma once

#include <vector>

#include "programs/memory/analysis/advice.hpp"
#include "programs/memory/analysis/points.hpp"
#include "programs/memory/runner.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Sets the time columns of a row from these mappings.
void set_timing(result::MemoryPoint& row, const std::vector<MappingSample>& mappings);

/// Sets the same columns from an existing summary; the caller sets the number of mappings.
void set_timing(result::MemoryPoint& row, const PointSummary& summary);

/// Sets the same columns from the ns of successive single operations.
void set_timing(result::MemoryPoint& row, const std::vector<double>& ns);

/// A row of laps over `n` lines in random order, `stride_bytes` apart, without its timings.
result::MemoryPoint lap_row(const Runner& runner, const result::Memory& result, std::uint64_t n,
                            std::uint64_t stride_bytes);

/// How the run was started; the advice depends on it.
Circumstances circumstances(const Runner& runner);

/// Sets the verdict of a result from its points and from the timings of the reference ring.
void judge(result::Memory& result, const std::vector<double>& references);

}  // namespace tally::memory
