// Histograms of durations and of gaps.
#pragma once

#include <span>
#include <string>

#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Counts the values in bins of an eighth of an octave. Skips empty bins and values ≤ 0. Histograms of one `group` are
/// drawn together.
result::MemoryHistogram histogram_of(std::span<const double> values, std::string name, std::string group,
                                     std::string unit);

}  // namespace tally::memory
