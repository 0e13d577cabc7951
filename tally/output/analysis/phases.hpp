// Phases of windows: rows whose counts are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::report {

/// One phase.
struct Phase {
  std::size_t windows = 0;
  std::int64_t length = 0;           ///< of all of them
  std::vector<std::int64_t> counts;  ///< of all of them: as WindowSeries::counts
  std::size_t series = 0, row = 0;   ///< its representative window: the one that is most like its mean
};

struct Phases {
  std::vector<Phase> phases;  ///< in the order in which they first appear
  /// Of each series each row's phase, from 0; −1 for a window that is too short to say anything.
  std::vector<std::vector<std::int64_t>> of_row;
  std::vector<std::string> events;  ///< full names of those that tell windows apart, or of all
  bool by_code = false;             ///< they are told apart by the code that they ran instead
  std::size_t too_short = 0;        ///< windows without a phase
};

/// Tells which code the windows of a series ran: `text` is the file `name` that tally sample --bbv or another tool
/// wrote, a line for each row. `counts_instructions`: the windows' lengths are instructions. Errors: bad_usage for a
/// file that is none, or has not a vector for each row.
Result<void> add_vectors(result::WindowSeries& series, std::string_view text, const std::string& name,
                         bool counts_instructions = false);

/// Phases of all windows of a file: by which code they ran, where that is known of all, else by their counts, each
/// divided by the window's length. No phases where nothing varies. The same files have the same phases.
Phases find_phases(const result::Windows& windows);

}  // namespace tally::report
