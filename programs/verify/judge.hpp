// Compares a count with what the program did: the deviation, and how large it may be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "programs/verify/bench.hpp"
#include "programs/verify/known_events.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::verify {

/// All runs of one program, with all events.
struct Series {
  Trial trial;
  std::vector<Ran> runs;
};

/// All counts to judge.
struct Ledger {
  std::vector<event::Event> events;
  std::vector<Series> series;

  /// The event's index; empty if it was not counted.
  std::optional<std::size_t> place(event::Id id) const;
};

/// How far a PMU count may deviate. Counts that are exact by construction may not deviate.
enum class Allowance {
  none,       ///< ±0
  raw,        ///< added by faults and interrupts, and by starting and stopping: upward
  corrected,  ///< added by starting and stopping, after faults and interrupts are subtracted
  warm,       ///< a quarter of that, because there are no faults
};

/// The most instructions that starting and stopping was seen to add: −13 to +56, over nine machines (Weaver's published
/// runs of 2021); rounded up.
inline constexpr std::int64_t start_and_stop = 64;

/// What page faults and interrupts added to a count, if the backend reports it.
struct Explained {
  std::int64_t by_faults = 0;
  std::int64_t by_interrupts = 0;
  std::int64_t unknown_interrupts = 0;  ///< upper bound for interrupts that were not counted
};
Explained explained(const Count& count, const Trial& trial, Nature nature, Nanoseconds duration);

/// The deviation of a count, and the range in which it is allowed.
struct Deviation {
  std::int64_t off = 0;
  std::int64_t low = 0, high = 0;
  bool is_within() const { return low <= off && off <= high; }
};
Deviation deviation(const Count& count, const Trial& trial, const KnownEvent& known, Allowance allowance,
                    Nanoseconds duration);

/// Selects the programs that a goal applies to.
using Which = std::function<bool(const Trial&)>;

/// Judges an event over all runs of the selected programs. Inconclusive without runs, and for absent, partial or scaled
/// counts.
result::Check judge(const Ledger& ledger, const std::string& goal, const std::string& what, event::Id id,
                    const Which& which, Allowance allowance);

/// A check without a verdict.
result::Check check_of(const std::string& goal, const std::string& what, const std::string& event);

/// Returns the check with its verdict and the reason.
result::Check concluded(result::Check check, result::Verdict verdict, const std::string& why);

/// Why a count cannot be judged; empty if it can.
std::string why_not_judged(const Count& count);

/// Event names for reports, such as "instructions:u".
EventName event_name_of(event::Id id);
std::string name_of(event::Id id);

}  // namespace tally::verify
