// Windows in the form that a page contains for windows.js.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/core/count/metric.hpp"
#include "tally/output/analysis/phases.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::output {

/// Limits of the windows on a page; a notice reports what exceeds them.
struct WindowLimits {
  std::size_t rows = 2'000'000;  ///< beyond it, every N rows are combined into one
  std::size_t series = 500;      ///< threads; those with the most windows are kept
};

/// As many windows as a page can contain, and notices about what was combined or left out.
struct FittingWindows {
  result::Windows windows;
  std::size_t together = 1;  ///< windows combined into one row
  std::vector<std::string> notices;
};
FittingWindows fitting(result::Windows windows, const WindowLimits& limits);

/// The metrics that can be computed from the counts of these windows.
std::vector<BoundMetric> metrics_of(const result::Windows& windows);

/// The script elements with the columns and their description.
std::string windows_scripts(const FittingWindows& fitting, const Phases& phases);

}  // namespace tally::output
