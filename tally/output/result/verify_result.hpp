// The result of `tally verify`: which counts of this machine are reliable, and the evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::result {

/// The result of a check. `inconclusive`: something that the check needs was missing.
enum class Verdict { pass, fail, inconclusive };

/// How reliable an event's counts are, from best to worst.
enum class EventGrade {
  exact,        ///< equal to the known answer of every program, in every run
  correctable,  ///< equal after subtracting what page faults and interrupts add
  speculative,  ///< depends on how the processor speculates; no program has a known answer
  micro_op,     ///< counts micro-operations: more than the program's own accesses
  unusable,     ///< differs from the known answers, without an explanation
  absent,       ///< no count is available
};

std::string_view name(Verdict verdict);
std::string_view name(EventGrade grade);

/// The EventGrade and the Verdict of that name().
std::optional<EventGrade> event_grade_of(std::string_view name);
std::optional<Verdict> verdict_of(std::string_view name);

/// One question about one event, and its answer. If several programs were used, values are from the run with the
/// largest deviation.
struct Check {
  std::string goal;                      ///< "G5": docs/guides/verify.md lists them
  std::string what;                      ///< a short description
  std::string event;                     ///< full name; empty if it concerns several
  std::string program;                   ///< "rep_movsb 1000000"
  std::optional<std::int64_t> expected;  ///< empty if no number was expected
  std::optional<std::int64_t> measured;
  std::string tolerance;  ///< "±0", "64"
  std::string reason;     ///< reason of the tolerance
  Verdict verdict = Verdict::inconclusive;
  std::string why;  ///< why it failed or is inconclusive; empty if it passed
  int runs = 0;     ///< compared
  int off = 0;      ///< runs outside of the tolerance
  bool operator==(const Check&) const = default;
};

/// An event's grade.
struct GradedEvent {
  EventName event;
  EventGrade grade = EventGrade::absent;
  std::string why;
  std::string source;                    ///< the PMU or backend that counted
  std::optional<std::int64_t> each;      ///< additional count of a page fault or an interrupt, if measured
  std::optional<std::int64_t> furthest;  ///< largest deviation from a known answer, in all runs, corrected
  std::optional<double> spread_percent;  ///< of repeated runs, in percent of their median, if no answer is known
  int runs = 0;
  std::string instead;         ///< event to use instead, if this one is unreliable
  std::string published = {};  ///< comparison with published results for this processor; empty: nothing is published
  bool operator==(const GradedEvent&) const = default;
};

/// An event of a user's program, counted in two ways.
struct ComparedEvent {
  std::string event;                  ///< full name
  std::optional<std::int64_t> exact;  ///< median of the runs with exact counts
  std::int64_t spread = 0;            ///< of those runs: variation of the program itself
  std::optional<std::int64_t> other;  ///< median of the other backend, as read
  std::int64_t by_faults = 0;         ///< part of `other` that page faults added
  std::int64_t by_interrupts = 0;     ///< part of `other` that interrupts added
  std::optional<std::int64_t> left;   ///< difference that remains unexplained
  std::int64_t allowed = 0;           ///< allowed difference
  Verdict verdict = Verdict::inconclusive;
  std::string why;  ///< why it failed, or is inconclusive
  bool operator==(const ComparedEvent&) const = default;
};

/// The whole result.
struct Verify {
  std::vector<std::string> command = {};     ///< a user's program; empty: the workloads with known answers
  std::string other = {};                    ///< the other backend: "perf", "stepper"
  std::vector<ComparedEvent> compared = {};  ///< events of that program
  std::string backend;
  std::string noise;  ///< noise added to the counts; empty: none
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

/// fail if a check failed, inconclusive if none passed.
Verdict verdict(const Verify& verify);

}  // namespace tally::result
