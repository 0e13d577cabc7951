/// Limits for what a region executes, for any test framework. tally/gtest.hpp and tally/catch2.hpp use it. C++11.
#pragma once

#include <string>

#include "tally/library/tally.h"

namespace tally {

/// Whether a region stayed within a limit. True if it did.
struct Limit {
  enum Kind : unsigned char {
    kept,      ///< every entry counted at most the limit
    exceeded,  ///< an entry counted more, or no entry of the region has ended
    unknown    ///< nothing can be counted here
  };
  Kind kind;
  std::string text;  ///< what was found, with the reason
  explicit operator bool() const { return kind == kept; }
};

/// Checks that each entry of a region so far counted at most `limit` of an event, in any thread. The event must be one
/// of those that regions count (TALLY_EVENTS). It compares the largest count of this run with the limit: there is no
/// interval, so a count that varies from run to run may pass once and fail once near its limit.
inline Limit at_most(const char* region, const char* event, long long limit) {
  tally_region_count count;
  if (tally_count_region(region, event, &count) != 0)
    return {Limit::exceeded, std::string(tally_error()) + "; " + tally_hint()};
  const std::string what = std::string(region) + ": " + count.total.event;
  if (std::string(count.total.trust) == "absent")
    return {Limit::unknown, what + " is not counted: " + count.total.reason};
  const std::string found = what + " " + std::to_string(count.most) + " (" + count.total.trust + ")";
  if (count.most <= limit) return {Limit::kept, found};
  return {Limit::exceeded, found + " in the largest of " + std::to_string(count.entries) + " entries, and at most " +
                               std::to_string(limit) +
                               " are expected (one run: compared as counted, without an interval)"};
}

}  // namespace tally
