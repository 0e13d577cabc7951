// What `tally verify` found out: which counts of this machine can be trusted, and how that is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/stat.hpp"

namespace tally::result {

/// What came of one check. `inconclusive` is neither: something that it needs was not there.
enum class Verdict { pass, fail, inconclusive };

/// How far an event's counts can be trusted, from best to worst.
enum class EventGrade {
  exact,        ///< equal to what every program did, in every run
  correctable,  ///< equal once what page faults and interrupts add is taken off
  speculative,  ///< depends on how the processor works; no program has a known answer
  micro_op,     ///< counts pieces of instructions: more than the program's own accesses
  unusable,     ///< differs from what programs did, and nothing explains it
  absent,       ///< there is no count here
};

std::string_view name(Verdict verdict);
std::string_view name(EventGrade grade);

/// The EventGrade and the Verdict of that name().
std::optional<EventGrade> event_grade_of(std::string_view name);
std::optional<Verdict> verdict_of(std::string_view name);

/// One question about one event, and its answer. Where several programs were asked, the figures are those of the run
/// that was the furthest off.
struct Check {
  std::string goal;                      ///< "G5": docs/guides/verify.md lists them
  std::string what;                      ///< in a few words
  std::string event;                     ///< full name; empty where it is about several
  std::string program;                   ///< "rep_movsb 1000000"
  std::optional<std::int64_t> expected;  ///< nothing where no number was expected
  std::optional<std::int64_t> measured;
  std::string tolerance;  ///< "±0", "64"
  std::string reason;     ///< of that tolerance
  Verdict verdict = Verdict::inconclusive;
  std::string why;  ///< why it failed, or is inconclusive; empty where it passed
  int runs = 0;     ///< that were compared
  int off = 0;      ///< of these, outside of the tolerance
  bool operator==(const Check&) const = default;
};

/// An event's grade.
struct GradedEvent {
  EventName event;
  EventGrade grade = EventGrade::absent;
  std::string why;
  std::string source;                    ///< who counts
  std::optional<std::int64_t> each;      ///< what a page fault or an interrupt adds, where that was measured
  std::optional<std::int64_t> furthest;  ///< from what a program did, of all runs, corrected
  std::optional<double> spread_percent;  ///< of repeated runs, in percent of their median, where no answer is known
  int runs = 0;
  std::string instead;         ///< what to count, where this cannot be trusted
  std::string published = {};  ///< how that compares with what was published of this processor; empty: nothing was
  bool operator==(const GradedEvent&) const = default;
};

/// An event of a program of the user's own, counted in two ways.
struct Compared {
  std::string event;                  ///< full name
  std::optional<std::int64_t> exact;  ///< median of the runs that were counted by construction
  std::int64_t spread = 0;            ///< of those: the program's own
  std::optional<std::int64_t> other;  ///< median of the other way, as it was read
  std::int64_t by_faults = 0;         ///< of that, what page faults added
  std::int64_t by_interrupts = 0;     ///< and interrupts
  std::optional<std::int64_t> left;   ///< what no one of these explains
  std::int64_t allowed = 0;           ///< so much may be left
  Verdict verdict = Verdict::inconclusive;
  std::string why;  ///< why it failed, or is inconclusive
  bool operator==(const Compared&) const = default;
};

/// The whole result.
struct Verify {
  std::vector<std::string> command = {};  ///< a program of the user's own; empty: those with known answers
  std::string other = {};                 ///< who counted it the other way: "perf", "stepper"
  std::vector<Compared> compared = {};    ///< of that program
  std::string backend;
  std::string noise;  ///< that was laid over the counts; empty: none
  bool quick = false;
  Environment environment;
  std::vector<GradedEvent> events;
  std::vector<Check> checks;
  std::vector<std::string> notices;
  Nanoseconds duration{0};
  int runs = 0;             ///< programs executed
  bool incomplete = false;  ///< interrupted
  bool operator==(const Verify&) const = default;
};

/// fail where a check failed, inconclusive where none passed.
Verdict verdict(const Verify& verify);

}  // namespace tally::result
