// The file of `tally bench`: which programs to count, and how much their counts may grow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::comparison {

struct Benchmark {
  std::string name;                  ///< also the name of the file of its result
  std::vector<std::string> command;  ///< the program and its arguments
  std::string directory;             ///< in which it runs, relative to the directory of the suite; empty: that one
  std::vector<std::string> events;   ///< empty: those that tally stat counts by default
  std::int64_t repeats = 1;
  std::vector<std::string> fail_above, warn_above;  ///< gates
  bool is_repeatable = true;                        ///< runs with --repeatable
  bool is_profile = false;                          ///< records a profile: counts of each function
};

/// Parses the text of a suite; `name` is the file's name, for messages. Errors: bad_usage with the line.
Result<std::vector<Benchmark>> parse_suite(std::string_view text, const std::string& name);

}  // namespace tally::comparison
