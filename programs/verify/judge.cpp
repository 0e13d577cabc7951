#include "programs/verify/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tally/core/base/text.hpp"

namespace tally::verify {
namespace {

using result::Check;
using result::Verdict;

constexpr std::int64_t timer_interrupts_per_second = 1000;  // the maximum of CONFIG_HZ

struct Bounds {
  std::int64_t below, above;
  const char* text;
  const char* reason;
};

Bounds bounds(Allowance allowance, const Count& count, Nature nature) {
  if (count.trust == Trust::exact) return {0, 0, "±0", "counted by construction: nothing may add to it"};
  if (allowance == Allowance::none || nature == Nature::immune) {
    return {0, 0, "±0", "neither page faults nor interrupts are events of this kind"};
  }
  if (allowance == Allowance::raw) {
    return {start_and_stop / 4, start_and_stop, "faults + interrupts + 64",
            "each may add to it; starting and stopping was seen to add -13 to 56"};
  }
  if (allowance == Allowance::warm) return {16, 16, "16", "no page faults, interrupts taken off"};
  return {start_and_stop, start_and_stop, "64",
          "faults and interrupts taken off; starting and stopping was seen to add -13 to 56"};
}

}  // namespace

std::optional<std::size_t> Ledger::place(event::Id id) const {
  const auto found = std::find_if(events.begin(), events.end(), [id](const event::Event& one) { return one.id == id; });
  if (found == events.end()) return std::nullopt;
  return static_cast<std::size_t>(found - events.begin());
}

Explained explained(const Count& count, const Trial& trial, Nature nature, Nanoseconds duration) {
  if (count.trust == Trust::exact || nature != Nature::additive) return {};
  const std::int64_t by_time = 1 + duration.count() * timer_interrupts_per_second / 1'000'000'000;
  if (count.correction) {
    const std::int64_t each = count.correction->each;
    Explained explanation{each * count.correction->page_faults, 0, 0};
    if (count.correction->interrupts) {
      explanation.by_interrupts = each * *count.correction->interrupts;
    } else {
      explanation.unknown_interrupts = each * by_time;
    }
    return explanation;
  }
  // Without a known correction: at most one per fault, by the formula.
  const auto faults = trial.workload->page_faults ? trial.workload->page_faults(trial.parameters) : 0;
  return {0, 0, static_cast<std::int64_t>(faults) + by_time};
}

Deviation deviation(const Count& count, const Trial& trial, const KnownEvent& known, Allowance allowance,
                    Nanoseconds duration) {
  const Explained explanation = explained(count, trial, known.nature, duration);
  const Bounds within = bounds(allowance, count, known.nature);
  Deviation deviation{*count.value - known.value(trial.known()), -within.below,
                      within.above + explanation.unknown_interrupts};
  if (allowance == Allowance::raw) {
    deviation.high += explanation.by_faults + explanation.by_interrupts;
  } else {
    deviation.off -= explanation.by_faults + explanation.by_interrupts;
  }
  return deviation;
}

EventName event_name_of(event::Id id) {
  event::Event event;
  event.id = id;
  return event::event_name(event);
}

std::string name_of(event::Id id) { return event_name_of(id).text(); }

Check check_of(const std::string& goal, const std::string& what, const std::string& event) {
  Check check;
  check.goal = goal;
  check.what = what;
  check.event = event;
  return check;
}

Check concluded(Check check, Verdict verdict, const std::string& why) {
  check.verdict = verdict;
  check.why = why;
  return check;
}

std::string why_not_judged(const Count& count) {
  switch (count.trust) {
    case Trust::absent: return "not counted: " + count.reason;
    case Trust::partial: return "partial: " + count.reason;
    case Trust::sampled: return "estimated from samples";
    case Trust::scaled: return "scaled: the counter was time-shared";
    default: return count.value ? "" : "there is no value";
  }
}

Check judge(const Ledger& ledger, const std::string& goal, const std::string& what, event::Id id, const Which& which,
            Allowance allowance) {
  Check check = check_of(goal, what, name_of(id));
  const auto index = ledger.place(id);
  if (!index) return concluded(check, Verdict::inconclusive, "not requested");
  const KnownEvent& event = *known(id);
  std::int64_t furthest = -1;
  std::string unjudged;
  for (const Series& series : ledger.series) {
    if (!which(series.trial)) continue;
    for (const Ran& ran : series.runs) {
      const Count& count = ran.counts[*index];
      if (const std::string why = why_not_judged(count); !why.empty()) {
        unjudged = why;
        continue;
      }
      if (event.nature == Nature::accesses && count.trust != Trust::exact) {
        return concluded(
            check, Verdict::inconclusive,
            "processors count these as instructions, micro-operations or dispatches: graded by their spread");
      }
      const Deviation found = deviation(count, series.trial, event, allowance, ran.duration);
      ++check.runs;
      const std::int64_t beyond = found.is_within() ? 0 : std::max(found.low - found.off, found.off - found.high);
      if (beyond > 0) ++check.off;
      // Among the runs within the range, report the one with the largest deviation.
      const std::int64_t distance = beyond > 0 ? (std::int64_t{1} << 40) + beyond : std::abs(found.off);
      if (distance <= furthest) continue;
      furthest = distance;
      const Bounds within = bounds(allowance, count, event.nature);
      check.program = series.trial.label();
      check.expected = event.value(series.trial.known());
      check.measured = *check.expected + found.off;
      check.tolerance = within.text;
      check.reason = within.reason;
    }
  }
  if (check.runs == 0) {
    return concluded(check, Verdict::inconclusive, unjudged.empty() ? "no program for it was counted" : unjudged);
  }
  if (check.off == 0) return concluded(check, Verdict::pass, "");
  return concluded(check, Verdict::fail,
                   fmt::format("{} of {} runs are off; {} by {}", check.off, check.runs, check.program,
                               thousands(*check.measured - *check.expected)));
}

}  // namespace tally::verify
