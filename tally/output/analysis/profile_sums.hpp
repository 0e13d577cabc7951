// Sums of a profile's counts by function, line and so on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/output/result/mix_shares.hpp"

namespace tally::output {

/// The sum of rows that have one key in common.
struct ProfileSum {
  std::uint32_t function = 0;          ///< of the first row; by line: the one with most of the first event
  std::uint32_t owner = 0;             ///< of the first row
  std::uint32_t source = 0, line = 0;  ///< the same
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> samples = {};  ///< if the profile was sampled
  result::FormCounts executions = {};      ///< by form, if the profile has forms
};

/// Sums of rows by `by`, in descending order of the first event.
std::vector<ProfileSum> sums_of(const result::Profile& profile, ProfileBy by);

/// Counts of each function by source file and line; line 0: unknown.
using LineCounts = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int64_t>>;
std::vector<LineCounts> lines_of_functions(const result::Profile& profile);

/// Calls of all threads, merged if they have the same stack. Parents, callers and callees refer to the profile's.
std::vector<result::ProfileCall> calls_of_all_threads(const result::Profile& profile,
                                                      std::vector<std::int64_t>& inclusive,
                                                      std::vector<std::int64_t>& self);

/// For each call and event: what was counted below the innermost frame of its caller. A function's own counts plus
/// these of its calls are its inclusive counts; recursion counts once.
std::vector<std::int64_t> counts_of_calls(const result::Profile& profile);

/// Calls of one function by another in all threads and stacks: sums of counts_of_calls().
struct CallSum {
  std::uint32_t caller = 0, callee = 0;
  std::int64_t calls = 0;
  std::vector<std::int64_t> inclusive;
};
std::vector<CallSum> calls_between(const result::Profile& profile);

/// Inclusive counts of each function and event. 0 for functions without recorded calls.
std::vector<std::int64_t> inclusive_of_functions(const result::Profile& profile);

/// The count of an event in the whole program; 0 if it is absent.
std::int64_t total_count(const result::Profile& profile, std::size_t event);

/// "main.c:12"; empty if the line is unknown.
std::string location_of(const result::Profile& profile, std::uint32_t source, std::uint32_t line);

/// The last component of a path.
std::string file_name(std::string_view path);

}  // namespace tally::output
