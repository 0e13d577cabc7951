// A count beside what the program did: how far it is off, and how far it may be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tally/output/result/verify.hpp"
#include "tally/tools/verify/bench.hpp"
#include "tally/tools/verify/known.hpp"

namespace tally::verify {

/// All runs of one program, with all events.
struct Series {
  Trial trial;
  std::vector<Ran> runs;
};

/// Everything that was counted to be judged.
struct Ledger {
  std::vector<event::Event> events;
  std::vector<Series> series;

  /// The event's place; nothing where it was not counted.
  std::optional<std::size_t> place(event::Id id) const;
};

/// How a count of a PMU may differ. Counts that are exact by construction may not.
enum class Allowance {
  none,       ///< ±0
  raw,        ///< what faults and interrupts add, and what starting and stopping does: upward
  corrected,  ///< what starting and stopping does, once the others are taken off
  warm,       ///< a quarter of it: there are no faults
};

/// The most that starting and stopping has been seen to add to a count of instructions: −13 to +56, over nine machines
/// (Weaver's published runs of 2021); rounded up.
inline constexpr std::int64_t start_and_stop = 64;

/// What page faults and interrupts added to a count, as far as the backend says.
struct Explained {
  std::int64_t by_faults = 0;
  std::int64_t by_interrupts = 0;
  std::int64_t unknown_interrupts = 0;  ///< that nobody counted: at most so many
};
Explained explained(const Count& count, const Trial& trial, Nature nature, Nanoseconds duration);

/// How far a count is off, and the range in which that is allowed.
struct Deviation {
  std::int64_t off = 0;
  std::int64_t low = 0, high = 0;
  bool is_within() const { return low <= off && off <= high; }
};
Deviation deviation(const Count& count, const Trial& trial, const Known& known, Allowance allowance,
                    Nanoseconds duration);

/// Which programs a question is about.
using Which = std::function<bool(const Trial&)>;

/// The answer over all runs of these programs. Inconclusive where there are none, and where a count is absent, partial
/// or scaled.
result::Check judge(const Ledger& ledger, const std::string& goal, const std::string& what, event::Id id,
                    const Which& which, Allowance allowance);

/// A check that has nothing to be said of it yet.
result::Check check_of(const std::string& goal, const std::string& what, const std::string& event);

/// The same with its verdict, and why.
result::Check concluded(result::Check check, result::Verdict verdict, const std::string& why);

/// Why a count is nothing to judge by; empty where it is.
std::string why_not_judged(const Count& count);

/// Names for reports: "instructions:u".
EventName event_name_of(event::Id id);
std::string name_of(event::Id id);

}  // namespace tally::verify
