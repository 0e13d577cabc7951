// Phases of windows: rows with similar counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::output {

/// One phase.
struct Phase {
  std::size_t windows = 0;
  std::int64_t length = 0;           ///< sum of all its windows
  std::vector<std::int64_t> counts;  ///< sums of all its windows: as WindowSeries::counts
  std::size_t series = 0, row = 0;   ///< its representative window: the one closest to its mean
};

struct Phases {
  std::vector<Phase> phases;  ///< in the order in which they first appear
  /// The phase of each row of each series, from 0; −1 for windows that are too short.
  std::vector<std::vector<std::int64_t>> of_row;
  std::vector<std::string> events;  ///< full names of events that distinguish windows, or of all events
  bool by_code = false;  ///< phases are distinguished by the code that windows executed, instead of by their counts
  std::size_t too_short = 0;  ///< windows without a phase
};

/// Adds the code that the windows of a series executed. `text` is the content of file `name`, written by tally sample
/// --bbv or another tool: one line per row. `counts_instructions`: the windows' lengths are instructions. Errors:
/// bad_usage if the file has another format, or not exactly one vector per row.
Result<void> add_vectors(result::WindowSeries& series, std::string_view text, const std::string& name,
                         bool counts_instructions = false);

/// Finds phases in all windows of a file, by the executed code if all windows have it, else by counts divided by window
/// length. No phases if nothing varies. Deterministic.
Phases find_phases(const result::Windows& windows);

}  // namespace tally::output
