// Derives a grade for each event from counts and checks.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "programs/verify/goals.hpp"
#include "tally/core/base/text.hpp"

namespace tally::verify {
namespace {

using event::Id;
using result::Check;
using result::EventGrade;
using result::GradedEvent;
using result::Verdict;

// The largest deviations of raw and corrected counts, over all runs.
struct Distances {
  int runs = 0;
  std::int64_t raw = 0, corrected = 0;
  std::int64_t excess = 0;  // largest excess over the allowance
  std::string program;      // program with that excess
  bool only_more = true;    // no count was too low
  std::optional<std::int64_t> each;
  std::string unjudged;
  std::string source;
  Trust trust = Trust::exact;
};

Distances distances(const Ledger& ledger, std::size_t place, const KnownEvent& event) {
  Distances all;
  for (const Series& series : ledger.series) {
    for (const Ran& ran : series.runs) {
      const Count& count = ran.counts[place];
      if (count.source.is_known()) all.source = count.source.text();
      if (const std::string why = why_not_judged(count); !why.empty()) {
        all.unjudged = why;
        continue;
      }
      ++all.runs;
      all.trust = worst(all.trust, count.trust);
      if (count.correction) all.each = count.correction->each;
      const std::int64_t raw = *count.value - event.value(series.trial.known());
      const Deviation corrected = deviation(count, series.trial, event, Allowance::corrected, ran.duration);
      all.raw = std::max(all.raw, std::abs(raw));
      all.corrected = std::max(all.corrected, std::abs(corrected.off));
      all.only_more = all.only_more && raw >= 0;
      const std::int64_t excess =
          corrected.is_within() ? 0 : std::max(corrected.low - corrected.off, corrected.off - corrected.high);
      if (excess > all.excess) {
        all.excess = excess;
        all.program = series.trial.label();
      }
    }
  }
  return all;
}

const Check* failed(const std::vector<Check>& checks, const std::string& event) {
  const auto found = std::find_if(checks.begin(), checks.end(), [&event](const Check& check) {
    return check.verdict == Verdict::fail && check.event == event;
  });
  return found == checks.end() ? nullptr : &*found;
}

GradedEvent known_grade(const Scene& scene, const std::vector<Check>& checks, std::size_t place,
                        const KnownEvent& event) {
  const Distances all = distances(scene.ledger, place, event);
  GradedEvent graded;
  graded.event = event_name_of(event.id);
  graded.source = all.source;
  graded.each = all.each;
  graded.runs = all.runs;
  if (all.runs == 0) {
    graded.why = all.unjudged.starts_with("not counted: ") ? all.unjudged.substr(13) : all.unjudged;
    // An event that is counted, but cannot be judged, is not exact.
    if (!all.unjudged.starts_with("not counted: ")) graded.grade = EventGrade::unusable;
    return graded;
  }
  graded.furthest = all.corrected;
  const std::string programs = fmt::format("what {} programs do, in {} runs", scene.ledger.series.size(), all.runs);
  const Check* failure = failed(checks, graded.event.text());
  if (event.nature == Nature::accesses && all.trust != Trust::exact) {
    graded.grade = all.raw == 0 ? EventGrade::exact : all.only_more ? EventGrade::micro_op : EventGrade::unusable;
    graded.why = all.raw == 0
                     ? "equal to " + programs
                     : fmt::format("off by up to {}: this processor does not count accesses", thousands(all.raw));
    return graded;
  }
  if (failure) {
    graded.grade = EventGrade::unusable;
    graded.why = fmt::format("{}, {}: {}", failure->goal, failure->what, failure->why);
  } else if (all.excess > 0) {
    graded.grade = EventGrade::unusable;
    graded.why = fmt::format("{}: outside the tolerance by {}", all.program, thousands(all.excess));
  } else if (all.raw == 0) {
    graded.grade = EventGrade::exact;
    graded.why = "equal to " + programs;
  } else {
    graded.grade = EventGrade::correctable;
    graded.why = all.each ? fmt::format("within {} of {}, after subtracting {} for each page fault and interrupt",
                                        all.corrected, programs, *all.each)
                          : fmt::format("within {} of {}", all.raw, programs);
  }
  return graded;
}

GradedEvent speculative_grade(const Ledger& ledger, std::size_t place) {
  GradedEvent graded;
  graded.event = event_name_of(ledger.events[place].id);
  double widest = 0;
  std::string model, absent;
  for (const Series& series : ledger.series) {
    std::vector<std::int64_t> values;
    for (const Ran& ran : series.runs) {
      const Count& count = ran.counts[place];
      if (count.source.is_known()) graded.source = count.source.text();
      if (!count.model.empty()) model = count.model;
      if (count.value) {
        values.push_back(*count.value);
      } else {
        absent = count.reason;
      }
    }
    graded.runs += static_cast<int>(values.size());
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    const std::int64_t median = values[values.size() / 2];
    // Below 1000 events the spread is not meaningful.
    if (median < 1000) continue;
    widest =
        std::max(widest, 100.0 * static_cast<double>(values.back() - values.front()) / static_cast<double>(median));
  }
  if (graded.runs == 0) {
    graded.why = absent;
    return graded;
  }
  graded.grade = EventGrade::speculative;
  graded.spread_percent = widest;
  graded.why = fmt::format("no program with a known count; varied by {:.2g} % between runs", widest);
  if (!model.empty()) graded.why = fmt::format("from a model ({}); varied by {:.2g} % between runs", model, widest);
  return graded;
}

// The best event that counts nearly the same.
std::string instead_of(Id id, const std::vector<GradedEvent>& all) {
  static constexpr std::pair<Id, Id> others[] = {{Id::instructions, Id::conditional_branches},
                                                 {Id::branches, Id::conditional_branches},
                                                 {Id::branches, Id::near_branches_taken},
                                                 {Id::conditional_branches, Id::branches},
                                                 {Id::conditional_branches, Id::instructions},
                                                 {Id::branches_taken, Id::near_branches_taken},
                                                 {Id::loads, Id::retired_loads},
                                                 {Id::stores, Id::retired_stores}};
  for (const auto& [of, instead] : others) {
    if (of != id) continue;
    for (const GradedEvent& graded_event : all) {
      if (graded_event.event == event_name_of(instead) && graded_event.grade <= EventGrade::correctable)
        return graded_event.event.text();
    }
  }
  return "";
}

}  // namespace

std::vector<GradedEvent> grades(const Scene& scene, const std::vector<Check>& checks, const Ledger& speculative) {
  std::vector<GradedEvent> all;
  for (std::size_t i = 0; i < scene.ledger.events.size(); ++i) {
    if (const KnownEvent* event = known(scene.ledger.events[i].id)) {
      all.push_back(known_grade(scene, checks, i, *event));
    }
  }
  for (std::size_t i = 0; i < speculative.events.size(); ++i) all.push_back(speculative_grade(speculative, i));
  for (GradedEvent& graded_event : all) {
    const auto id = event::find(graded_event.event.base);
    if (id && (graded_event.grade == EventGrade::unusable || graded_event.grade == EventGrade::micro_op)) {
      graded_event.instead = instead_of(*id, all);
    }
  }
  return all;
}

}  // namespace tally::verify
