// Parts of a profile: those of some processes or threads, and what was counted in calls of some functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::callgrind {

/// Returns the part of a profile that belongs to the owners for which `keeps` is true. `totals`: what they counted, one
/// for each event; what no row contains stays a count without a location. If it is empty, the sums of rows are the
/// totals. Cost: proportional to rows and calls.
result::Profile of_owners(const result::Profile& profile, const std::function<bool(const result::CodeOwner&)>& keeps,
                          const std::vector<std::int64_t>& totals);

/// When counts are collected: in calls of some functions only.
struct Collection {
  bool at_start = false;              ///< collection is on at the start of each thread
  std::vector<std::string> switches;  ///< functions by name, * and ? as in a shell: each call switches collection, and
                                      ///< its return switches it back
};

/// What a Collection left of a profile.
struct Collected {
  result::Profile profile;
  /// Functions that ran both with and without collection: their counts are exact, but not divided among lines.
  std::vector<std::string> divided;
  /// Functions whose calls counted more than the function: it jumped to others (tail calls), whose counts are with its
  /// own, and not divided either.
  std::vector<std::string> jumping;
};

/// Returns the counts that were collected. A recursive call of a function switches nothing. Needs the profile's calls,
/// which must have all of its events. Cost: proportional to rows and calls.
Collected collected(result::Profile profile, const Collection& collection);

}  // namespace tally::callgrind
