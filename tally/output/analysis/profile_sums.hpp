// Counts of a profile, added up by function, line and the like.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/formats/profile.hpp"

namespace tally::report {

/// What rows of a profile have in common, and the sum of their counts.
struct ProfileSum {
  std::uint32_t function = 0;          ///< of the first of them
  std::uint32_t owner = 0;             ///< the same
  std::uint32_t source = 0, line = 0;  ///< the same
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> samples = {};  ///< where the profile was sampled
};

/// The rows added up, the most of the first event first.
std::vector<ProfileSum> sums_of(const result::Profile& profile, ProfileBy by);

/// Counts of each function by file of source and line; line 0: not known.
using LineCounts = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int64_t>>;
std::vector<LineCounts> lines_of_functions(const result::Profile& profile);

/// The calls of all threads, those of the same stack together; parents, callers and callees as in the profile.
std::vector<result::ProfileCall> calls_of_all_threads(const result::Profile& profile,
                                                      std::vector<std::int64_t>& inclusive,
                                                      std::vector<std::int64_t>& self);

/// Of each call, and each event: what was counted below the innermost frame of the function that calls. So what a
/// function counts itself and what its calls have here is what it counts with its callees, whoever calls whom again.
std::vector<std::int64_t> counts_of_calls(const result::Profile& profile);

/// The calls of one function by another, of all threads and stacks: the sums of counts_of_calls().
struct CallSum {
  std::uint32_t caller = 0, callee = 0;
  std::int64_t calls = 0;
  std::vector<std::int64_t> inclusive;
};
std::vector<CallSum> calls_between(const result::Profile& profile);

/// Of each function, and each event: what was counted by it and below it. 0 for what nobody was seen to
/// call.
std::vector<std::int64_t> inclusive_of_functions(const result::Profile& profile);

/// "main.c:12", with the last folder where `folder`.
std::string place_of(const result::Profile& profile, std::uint32_t source, std::uint32_t line);

/// The end of a path.
std::string file_name(std::string_view path);

}  // namespace tally::report
