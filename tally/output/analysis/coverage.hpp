// Which source lines, functions and branches of a program were executed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

/// The outcomes of the conditional branches of a line, in the order of their addresses: two counts for each.
using BranchOutcomes = std::vector<std::int64_t>;

struct CoveredFunction {
  std::string name;
  std::uint32_t line = 0;
  std::int64_t calls = 0;
  std::string linker_name = {};  ///< of one copy; equal to `name` in C
};

struct CoveredFile {
  std::map<std::uint32_t, std::int64_t> lines;  ///< executions of each line that has code
  std::map<std::uint32_t, BranchOutcomes> branches;
  std::vector<CoveredFunction> functions;  ///< by line and name

  std::size_t executed_lines() const;
  std::size_t outcomes() const;
  std::size_t seen_outcomes() const;
};

/// By path. A line was executed as often as the most frequent of its instructions; copies of a line in several
/// functions, and inlined ones, are added. Without patterns to include, omits the system's files and sources.
std::map<std::string, CoveredFile> coverage_of(const result::Profile& profile, const CoverageSelection& selection);

/// The selected source files that are newer than a program that has their lines: these may have moved.
inline constexpr const char* newer_source = " is newer than the program: lines may have moved";
std::set<std::string> newer_sources(const result::Profile& profile, const ProfileStyle& style);

/// Reads a limit in percent, such as "80%". Errors: bad_usage, also for 0.8, which may be a share.
Result<double> parse_coverage_limit(std::string_view text);

/// What a limit decides, and notes about it.
struct CoverageCheck {
  bool passes = true;
  std::vector<std::string> notes;
};
/// Compares the executed lines with a limit in percent, if there is one. `program`: its path or file name. Errors:
/// cannot_measure if no line is selected, and with a limit if all files are selected and the program has no lines.
Result<CoverageCheck> check_coverage(const result::Profile& profile, const CoverageSelection& selection,
                                     std::optional<double> limit, const std::string& program);

}  // namespace tally::output
