// Resolves counts of instructions to functions and lines.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tally/output/result/code_values.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::profile {

/// Which source lines to find. Finding any takes a file's debug information, which may be compressed.
struct Lines {
  bool of_rows = false;  ///< of all instructions and calls
  /// Returns the functions whose lines are needed, by index; if it is not set, those of all.
  std::function<std::vector<std::uint32_t>(const result::Profile&)> chosen = {};
};

/// What else to find: the branches between instructions; with coverage also all lines and functions that have code.
enum class Additions { none, branches, coverage };

/// Whether to find inlined functions: that takes all debug information of the executed functions.
enum class Inlines { no, yes };

/// Finds the names of all code: functions, and source lines if there is debug information. For files that were replaced
/// or removed, the result has the reason, and their code has addresses only. If a signal asks tally to end, omits names
/// that are not known yet (linux::is_interrupted()). Cost: 1 us for each symbol of each file, 0.5 us for each row.
result::Profile resolve(result::CodeCounts code, result::Stat stat, Lines lines, Inlines inlines = Inlines::no,
                        Additions additions = Additions::none);

}  // namespace tally::profile
