// What `tally discover` found out: events, what they count, and the evidence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::result {

/// What payloads are made of, and events may count.
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

/// How often each happens in one copy of a payload.
using Composition = std::array<double, coordinate_count>;

/// The place of a name in it; nothing for another word.
std::optional<std::size_t> coordinate_of(std::string_view name);

/// What an event is.
enum class EventClass {
  dead,             ///< it never counted
  counts,           ///< what it counts has a name
  clock_like,       ///< goes by the time, whatever runs
  interrupts_only,  ///< counts interrupts
  background,       ///< counts now and then, and nothing that a payload does
  unexplained,      ///< counts what payloads do, and no combination of names fits
  rejected,         ///< its counts cannot be used
};
std::string_view name(EventClass kind);
std::optional<EventClass> event_class_of(std::string_view name);

/// The answer to one question.
enum class Match { matches, excluded, undecided };
std::string_view name(Match match);

/// Of one payload: events for each copy.
struct Slope {
  std::string payload;
  double value = 0, error = 0;  ///< its standard error
  double low = 0, high = 0;     ///< 99 %
  double intercept = 0;
  int used = 0, discarded = 0;  ///< repeats
  bool operator==(const Slope&) const = default;
};

/// So many of a coordinate.
struct Term {
  std::string coordinate;
  double weight = 0, error = 0;
  bool operator==(const Term&) const = default;
};

/// A payload against its control, which differ in one coordinate.
struct Contrast {
  std::string payload, control, coordinate;
  double expected = 0;  ///< of the coordinate, by the declared composition
  double difference = 0, low = 0, high = 0;
  double p = 1;  ///< that it is 0 or less
  Match verdict = Match::undecided;
  bool operator==(const Contrast&) const = default;
};

/// Something else that it may count as well as what is named, and the payload that would tell.
struct Alias {
  std::string coordinate;
  std::string splits;  ///< a payload of the library; empty where none does
  bool operator==(const Alias&) const = default;
};

/// One event.
struct Discovered {
  std::uint64_t code = 0;
  EventClass kind = EventClass::dead;
  std::vector<int> counters;  ///< on which it counts; empty where counters cannot be chosen
  std::vector<Term> terms;    ///< what it counts
  std::vector<Alias> aliases;
  std::vector<std::uint64_t> same_as;    ///< events with the same slopes everywhere
  std::string splits_same;               ///< a payload not used, which might tell them apart; empty where none might
  double per_ms = 0, per_interrupt = 0;  ///< of clock_like and background; of interrupts_only
  std::string reason;                    ///< in words
  std::vector<Slope> slopes;
  std::vector<Contrast> contrasts;
  bool operator==(const Discovered&) const = default;
};

/// The whole result.
struct Discovery {
  std::string backend;
  std::uint64_t seed = 0;
  int counters = 0;  ///< 0: cannot be chosen
  std::vector<std::uint64_t> sizes;
  int repeats = 0;
  std::vector<std::string> payloads;
  std::vector<Composition> compositions;
  int rank = 0;                     ///< of the compositions
  double condition = 0;             ///< of those that are independent
  std::vector<std::string> unseen;  ///< coordinates that no payload has
  std::vector<Discovered> events;
  std::vector<std::string> notices;
  std::int64_t runs = 0, discarded = 0;
  bool incomplete = false;
  bool operator==(const Discovery&) const = default;
};

}  // namespace tally::result
