// Windows as a page holds them for its program (windows.js).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/core/count/metric.hpp"
#include "tally/output/analysis/phases.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::report {

/// Limits of the windows on a page; a notice reports what exceeds them.
struct WindowLimits {
  std::size_t rows = 2'000'000;  ///< more are joined, every N into one
  std::size_t series = 500;      ///< threads; those with the most windows are kept
};

/// As many windows as a page can have, and in words what was done for it.
struct FittingWindows {
  result::Windows windows;
  std::size_t together = 1;  ///< windows that were made one
  std::vector<std::string> notices;
};
FittingWindows fitting(result::Windows windows, const WindowLimits& limits);

/// The metrics that the counts of these windows have.
std::vector<BoundMetric> metrics_of(const result::Windows& windows);

/// The scripts with the columns and what they are: elements of a page.
std::string windows_scripts(const FittingWindows& fitting, const Phases& phases);

}  // namespace tally::report
