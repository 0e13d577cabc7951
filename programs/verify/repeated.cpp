// Goals about counts that should repeat, and about counts that must fit together.
#include <fmt/format.h>

#include <algorithm>

#include "programs/verify/goals.hpp"
#include "tally/core/base/text.hpp"

namespace tally::verify {
namespace {

using event::Id;
using result::Check;
using result::Verdict;

// Runs a program that does nothing: starting and stopping cause everything beyond its three instructions.
Check overhead(const Scene& scene) {
  Check check = check_of("G21", "what starting and stopping adds repeats", name_of(Id::instructions));
  check.tolerance = "2";
  check.reason = "only a repeatable amount can be subtracted";
  const auto place = scene.ledger.place(Id::instructions);
  if (!place) return concluded(check, Verdict::inconclusive, "not requested");
  std::optional<std::int64_t> least, most;
  for (const Series& series : scene.ledger.series) {
    if (series.trial.workload->name != "nothing") continue;
    check.program = series.trial.label();
    check.expected = static_cast<std::int64_t>(series.trial.known().instructions);
    for (const Ran& ran : series.runs) {
      const Count& count = ran.counts[*place];
      if (const std::string why = why_not_judged(count); !why.empty()) {
        return concluded(check, Verdict::inconclusive, why);
      }
      const Explained explanation = explained(count, series.trial, Nature::additive, ran.duration);
      // An interrupt that was not counted is not overhead, so such a run is skipped.
      if (explanation.unknown_interrupts > 0 && *count.value != *check.expected && most && *count.value > *most)
        continue;
      const std::int64_t value = *count.value - explanation.by_faults - explanation.by_interrupts;
      least = std::min(least.value_or(value), value);
      most = std::max(most.value_or(value), value);
      ++check.runs;
      if (count.trust == Trust::exact && value != *check.expected) ++check.off;
    }
  }
  if (check.runs < 2) return concluded(check, Verdict::inconclusive, "it takes two runs");
  check.measured = most;
  if (check.off > 0) {
    return concluded(check, Verdict::fail, fmt::format("{} instructions are counted, not {}", *most, *check.expected));
  }
  if (*most - *least <= 2) return concluded(check, Verdict::pass, "");
  return concluded(check, Verdict::fail, fmt::format("{} to {} instructions", *least, *most));
}

// Repeats the same program: after correction, counts that follow from the program have no spread.
Check determinism(const Scene& scene, const KnownEvent& event) {
  Check check = check_of("G20", "the same in every run", name_of(event.id));
  const auto place = scene.ledger.place(event.id);
  if (!place) return concluded(check, Verdict::inconclusive, "not requested");
  std::string unjudged;
  for (const Series& series : scene.ledger.series) {
    std::optional<Deviation> least, most;
    std::int64_t before = 0;
    for (const Ran& ran : series.runs) {
      const Count& count = ran.counts[*place];
      if (const std::string why = why_not_judged(count); !why.empty()) {
        unjudged = why;
        continue;
      }
      const Deviation now = deviation(count, series.trial, event, Allowance::corrected, ran.duration);
      if (!least || now.off < least->off) least = now;
      if (!most || now.off > most->off) most = now;
      before = event.value(series.trial.known());
      ++check.runs;
    }
    if (!least) continue;
    const std::int64_t spread = most->off - least->off;
    const bool judged = event.nature != Nature::accesses || most->high == 0;
    const std::int64_t allowed = most->high - most->low;
    if (judged && spread > allowed) ++check.off;
    if (check.program.empty() || spread > *check.measured - *check.expected) {
      check.program = series.trial.label();
      check.expected = before + least->off;
      check.measured = before + most->off;
      check.tolerance = fmt::format("{}", allowed);
      check.reason = allowed == 0 ? "nothing but the program adds to it" : "what starting and stopping may add";
    }
  }
  if (check.runs == 0) return concluded(check, Verdict::inconclusive, unjudged);
  if (check.off == 0) return concluded(check, Verdict::pass, "");
  return concluded(
      check, Verdict::fail,
      fmt::format("{} differs by {} from run to run", check.program, thousands(*check.measured - *check.expected)));
}

// Two counts of one run that must fit together.
struct Rule {
  const char* what;
  Id smaller;
  Id larger;
};
constexpr Rule rules[] = {
    {"no more conditional branches than branches", Id::conditional_branches, Id::branches},
    {"no more branches than instructions", Id::branches, Id::instructions},
};

Check answered(const Scene& scene, const Rule& rule, std::size_t smaller, std::size_t larger) {
  Check check = check_of("T4", rule.what, "");
  check.tolerance = "±0";
  for (const Series& series : scene.ledger.series) {
    for (const Ran& ran : series.runs) {
      const Count& a = ran.counts[smaller];
      const Count& b = ran.counts[larger];
      if (!why_not_judged(a).empty() || !why_not_judged(b).empty()) continue;
      ++check.runs;
      if (*a.value <= *b.value || check.off++ > 0) continue;
      check.program = series.trial.label();
      check.expected = *b.value;
      check.measured = *a.value;
    }
  }
  if (check.runs == 0) return concluded(check, Verdict::inconclusive, "one of them is not counted here");
  if (check.off == 0) return concluded(check, Verdict::pass, "");
  return concluded(check, Verdict::fail, fmt::format("{} of {} runs are impossible", check.off, check.runs));
}

// A counter that always has the same value, or 0, does not count.
Check moves(const Scene& scene, const KnownEvent& event) {
  Check check = check_of("T5", "the counter moves", name_of(event.id));
  const auto place = scene.ledger.place(event.id);
  if (!place) return concluded(check, Verdict::inconclusive, "not requested");
  std::optional<std::int64_t> first;
  bool differs = false;
  bool should = false;
  for (const Series& series : scene.ledger.series) {
    for (const Ran& ran : series.runs) {
      const Count& count = ran.counts[*place];
      if (!why_not_judged(count).empty()) continue;
      ++check.runs;
      should = should || event.value(series.trial.known()) > 0;
      if (!first) first = *count.value;
      differs = differs || *count.value != *first;
    }
  }
  if (check.runs < 2 || !should) return concluded(check, Verdict::inconclusive, "it is not counted here");
  if (differs) return concluded(check, Verdict::pass, "");
  check.measured = first;
  check.off = check.runs;
  return concluded(check, Verdict::fail, fmt::format("it holds {} after every program", thousands(*first)));
}

}  // namespace

std::vector<Check> repeated(const Scene& scene) {
  std::vector<Check> checks;
  for (const KnownEvent& event : known_events()) {
    if (scene.ledger.place(event.id)) checks.push_back(determinism(scene, event));
  }
  checks.push_back(overhead(scene));
  return checks;
}

std::vector<Check> consistency(const Scene& scene) {
  std::vector<Check> checks;
  for (const Rule& rule : rules) {
    const auto smaller = scene.ledger.place(rule.smaller);
    const auto larger = scene.ledger.place(rule.larger);
    if (smaller && larger) checks.push_back(answered(scene, rule, *smaller, *larger));
  }
  for (const KnownEvent& event : known_events()) {
    if (scene.ledger.place(event.id)) checks.push_back(moves(scene, event));
  }
  return checks;
}

}  // namespace tally::verify
