// Finds where the paths of two runs part, by their stored hashes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// A thread whose paths differ, and the range of instructions in which they part.
struct PathDifference {
  std::size_t before = 0, after = 0;  ///< its index in the paths of both runs
  std::uint64_t from = 0;             ///< instructions up to the last equal hash
  std::uint64_t to = 0;               ///< up to the first different one; that of the longer thread if one ended
};

/// What the stored paths of two runs say about each other.
struct PathComparison {
  std::optional<PathDifference> first;        ///< of the first thread that differs, in the order of their starts
  std::size_t equal = 0;                      ///< threads with equal hashes
  std::size_t different = 0;                  ///< threads with different ones
  std::vector<std::string> only_before = {};  ///< threads without a counterpart: "thread 2 of sort"
  std::vector<std::string> only_after = {};
};

/// Threads correspond to each other if their programs, the numbers of their processes among those of the program, and
/// their numbers in the process are the same. Errors: bad_usage if the intervals of two threads do not fit.
Result<PathComparison> compare_paths(const result::Run& before, const result::Run& after);

/// "thread 2 of sort (process 3)".
std::string thread_text(const result::ThreadPath& path);

/// The variables of the environment that differ: "HOME (9 and 12 bytes)", "DEBUG (only in the second)".
struct VariableDifference {
  std::string name;
  std::optional<std::int64_t> before, after;  ///< bytes of the value; nothing: not set
};
std::vector<VariableDifference> compare_environments(const result::StartConditions& before,
                                                     const result::StartConditions& after);
std::string variable_text(const VariableDifference& difference);

}  // namespace tally::output
