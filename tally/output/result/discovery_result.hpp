// What `tally discover` found: events, what they count, and the evidence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/provenance.hpp"

namespace tally::result {

/// What payloads consist of and what events may count.
inline constexpr std::array<std::string_view, 27> coordinate_names{"instructions",
                                                                   "cycles",
                                                                   "loads",
                                                                   "stores",
                                                                   "branches",
                                                                   "branches-taken",
                                                                   "conditional-branches",
                                                                   "direct-jumps",
                                                                   "indirect-jumps",
                                                                   "calls",
                                                                   "returns",
                                                                   "conditional-branch-misses",
                                                                   "indirect-branch-misses",
                                                                   "return-misses",
                                                                   "branch-misses",
                                                                   "L1-dcache-load-misses",
                                                                   "L1-dcache-store-misses",
                                                                   "dTLB-load-misses",
                                                                   "integer-operations",
                                                                   "multiplications",
                                                                   "divisions",
                                                                   "simd-operations",
                                                                   "fp-operations",
                                                                   "barriers",
                                                                   "atomics",
                                                                   "string-instructions",
                                                                   "non-temporal-stores"};
inline constexpr std::size_t coordinate_count = coordinate_names.size();

/// How often each coordinate occurs in one copy of a payload.
using Composition = std::array<double, coordinate_count>;

/// The index of a name in coordinate_names, if it is one of them.
std::optional<std::size_t> coordinate_of(std::string_view name);

/// The kind of an event.
enum class EventClass {
  dead,             ///< it never counted
  counts,           ///< counts something that has a name
  clock_like,       ///< counts in proportion to time, whatever runs
  interrupts_only,  ///< counts interrupts
  background,       ///< counts occasionally, independently of the payloads
  unexplained,      ///< responds to payloads, but no combination of names fits
  rejected,         ///< its counts cannot be used
  unaffected,       ///< as background, but the payloads lack some coordinates, which it may count
};
std::string_view name(EventClass kind);

/// The result of comparing counts with a hypothesis.
enum class Match { matches, excluded, undecided };
std::string_view name(Match match);

/// The slope of one payload: events per copy.
struct Slope {
  std::string payload;
  double value = 0, error = 0;  ///< its standard error
  double low = 0, high = 0;     ///< 99 % confidence interval
  double intercept = 0;
  int used = 0, discarded = 0;  ///< repeats
  bool operator==(const Slope&) const = default;
};

/// A coordinate and its weight.
struct Term {
  std::string coordinate;
  double weight = 0, error = 0;
  bool operator==(const Term&) const = default;
};

/// A payload and its control, which differ in one coordinate.
struct Contrast {
  std::string payload, control, coordinate;
  double expected = 0;  ///< difference of the coordinate in the declared compositions
  double difference = 0, low = 0, high = 0;
  double p = 1;  ///< p-value of the hypothesis that the difference is 0 or less
  Match verdict = Match::undecided;
  bool operator==(const Contrast&) const = default;
};

/// Another coordinate that the event may count as well, and the payload that would decide it.
struct Alias {
  std::string coordinate;
  std::string splits;  ///< a payload of the library; empty if none does
  bool operator==(const Alias&) const = default;
};

/// One event.
struct DiscoveredEvent {
  std::uint64_t code = 0;
  EventClass kind = EventClass::dead;
  std::vector<int> counters;  ///< that can count it; empty if counters cannot be chosen
  std::vector<Term> terms;    ///< what it counts
  std::vector<Alias> aliases;
  std::vector<std::uint64_t> same_as;    ///< events with the same slopes everywhere
  double per_ms = 0, per_interrupt = 0;  ///< of clock_like and background; of interrupts_only
  std::string reason;                    ///< in words
  std::vector<Slope> slopes;
  std::vector<Contrast> contrasts;
  bool operator==(const DiscoveredEvent&) const = default;
};

/// The whole result.
struct Discovery {
  std::string backend;
  std::uint64_t seed = 0;
  int counters = 0;  ///< 0: counters cannot be chosen
  std::vector<std::uint64_t> sizes;
  int repeats = 0;
  std::vector<std::string> payloads;
  std::vector<Composition> compositions;
  int rank = 0;                     ///< of the matrix of compositions
  double condition = 0;             ///< of its independent columns
  std::vector<std::string> unseen;  ///< coordinates that no payload has
  bool has_all_payloads = false;    ///< of the library
  std::vector<DiscoveredEvent> events;
  std::vector<std::string> notices;
  std::int64_t runs = 0, discarded = 0;
  bool incomplete = false;
  Provenance provenance = {};
  bool operator==(const Discovery&) const = default;
};

}  // namespace tally::result
