#include "programs/discovery/analysis/analyse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "programs/discovery/analysis/linear.hpp"
#include "programs/discovery/analysis/robust.hpp"
#include "programs/discovery/analysis/steps.hpp"
#include "tally/core/base/text.hpp"

namespace tally::discover {
namespace {

using result::DiscoveredEvent;
using result::EventClass;
using result::Match;

std::optional<std::size_t> payload_of(const Record& record, const std::string& name) {
  for (std::size_t i = 0; i < record.payloads.size(); ++i) {
    if (record.payloads[i].name == name) return i;
  }
  return std::nullopt;
}

// Cycles have no declaration, so the fixed counter determines them.
void measure_cycles(Record& record, const Limits& limits) {
  const std::size_t cycles = *result::coordinate_of("cycles");
  for (std::size_t payload = 0; payload < record.payloads.size(); ++payload) {
    std::map<std::pair<int, std::size_t>, std::pair<std::vector<double>, std::vector<double>>> series;
    for (const Run& run : record.runs) {
      const bool used = run.stage == Run::Stage::slopes && run.repeat > 0 && run.payload == payload && run.cycles > 0;
      if (!used || !why_discarded(record, run, limits).empty()) continue;
      auto& [x, y] = series[{run.repeat, run.batch}];
      x.push_back(static_cast<double>(record.sizes[run.size]));
      y.push_back(static_cast<double>(run.cycles));
    }
    std::vector<double> slopes;
    for (const auto& [key, one] : series) {
      if (one.first.size() > 1) slopes.push_back(theil_sen(one.first, one.second).slope);
    }
    if (!slopes.empty()) record.payloads[payload].composition[cycles] = median(slopes);
  }
}

// Compares each payload with its control; the verdicts follow when all are known.
std::vector<result::Contrast> contrasts_of(const Record& record, const Slopes& slopes) {
  std::vector<result::Contrast> all;
  for (std::size_t i = 0; i < record.payloads.size(); ++i) {
    const Facts& payload = record.payloads[i];
    const auto control = payload_of(record, payload.control);
    const auto target = result::coordinate_of(payload.target);
    const bool users = payload.target == users_payload;
    if (!control || !(target || users)) continue;
    const result::Slope& with = slopes.of[i];
    const result::Slope& without = slopes.of[*control];
    result::Contrast one{payload.name, payload.control, payload.target, 0, 0, 0, 0, 1, Match::undecided};
    one.expected = users ? 1 : payload.composition[*target] - record.payloads[*control].composition[*target];
    one.difference = with.value - without.value;
    const double error = std::hypot(with.error, without.error);
    const int degrees = std::max(1, with.used + without.used - 2);
    const double reach = t99(degrees) * error;
    one.low = one.difference - reach;
    one.high = one.difference + reach;
    one.p = t_above(one.difference / error, degrees);
    all.push_back(one);
  }
  return all;
}

// Two one-sided tests: the whole interval is within the allowed range around the expected number, or outside of it.
Match verdict_of(const result::Contrast& one, bool rejected, const Limits& limits) {
  const double off = limits.share * std::abs(one.expected) + limits.least;
  if (rejected && one.low >= one.expected - off && one.high <= one.expected + off) return Match::matches;
  if (one.high < one.expected - off || one.low > one.expected + off) return Match::excluded;
  return Match::undecided;
}

void judge(std::vector<DiscoveredEvent>& events, const Limits& limits) {
  std::vector<double> p;
  for (const DiscoveredEvent& event : events) {
    for (const auto& contrast : event.contrasts) p.push_back(contrast.p);
  }
  const std::vector<bool> rejected = benjamini_hochberg(p, limits.false_share);
  std::size_t at = 0;
  for (DiscoveredEvent& event : events) {
    for (auto& one : event.contrasts) one.verdict = verdict_of(one, rejected[at++], limits);
    // The rejected ones are needed again, because a name requires an effect.
  }
}

std::string term_text(const Explanation& by, std::size_t i) {
  const std::string name(result::coordinate_names[by.coordinates[i]]);
  return std::abs(by.weights[i] - 1) < 0.03 ? name : fmt::format("{} {}", number_text(by.weights[i]), name);
}

std::string text_of(const Explanation& by) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < by.coordinates.size(); ++i) parts.push_back(term_text(by, i));
  return join(parts, " + ");
}

double predicted(const Explanation& by, const result::Composition& composition) {
  double sum = 0;
  for (std::size_t i = 0; i < by.coordinates.size(); ++i) sum += by.weights[i] * composition[by.coordinates[i]];
  return sum;
}

// Returns the unused payload in which two explanations differ most. Both fit those that were used. Cycles of unused
// payloads are unknown.
std::string splitting(const Explanation& a, const Explanation& b, const Record& record,
                      const std::vector<Facts>& library, const Limits& limits) {
  const std::size_t cycles = *result::coordinate_of("cycles");
  for (const Explanation* explanation : {&a, &b}) {
    if (std::find(explanation->coordinates.begin(), explanation->coordinates.end(), cycles) !=
        explanation->coordinates.end())
      return "";
  }
  std::string best;
  double most = 0.1;
  for (const Facts& payload : library) {
    if (payload_of(record, payload.name)) continue;
    const double x = predicted(a, payload.composition), y = predicted(b, payload.composition);
    const double off = std::abs(x - y) / std::max({x, y, limits.least});
    if (off <= most) continue;
    most = off;
    best = payload.name;
  }
  return best;
}

void name_it(DiscoveredEvent& event, const Record& record, const Slopes& slopes, const std::vector<Facts>& library,
             const Limits& limits) {
  const std::vector<Explanation> ways = explain(slopes.of, record.payloads, limits);
  if (ways.empty()) {
    event.kind = EventClass::unexplained;
    event.reason = "no combination of names fits in every payload";
    return;
  }
  event.kind = EventClass::counts;
  const Explanation& best = ways.front();
  for (std::size_t i = 0; i < best.coordinates.size(); ++i) {
    event.terms.push_back(
        {std::string(result::coordinate_names[best.coordinates[i]]), best.weights[i], best.errors[i]});
  }
  for (std::size_t i = 1; i < ways.size(); ++i) {
    event.aliases.push_back({text_of(ways[i]), splitting(best, ways[i], record, library, limits)});
  }
}

// Classifies an event without a slope: by interrupts, or occasional. `all`: the payloads have all coordinates.
void classify_flat(DiscoveredEvent& event, const Rhythm& rhythm, bool all) {
  const bool by_interrupts =
      rhythm.interrupts_known && rhythm.per_interrupt >= 0.2 && 2 * rhythm.left_by_interrupts < rhythm.left_by_time;
  event.kind = by_interrupts ? EventClass::interrupts_only : all ? EventClass::background : EventClass::unaffected;
  event.per_interrupt = by_interrupts ? rhythm.per_interrupt : 0;
  event.per_ms = rhythm.per_ms;
  const std::string rate = by_interrupts ? number_text(rhythm.per_interrupt) + " for each interrupt"
                                         : number_text(rhythm.per_ms) + " a millisecond";
  event.reason = rate + (all ? ", whatever the payload" : " in each of these payloads");
}

void classify(DiscoveredEvent& event, const Record& record, std::size_t place, const Slopes& slopes,
              const std::vector<int>& without, const std::vector<Facts>& library, const Limits& limits, bool all) {
  if (!slopes.rejected.empty()) {
    event.kind = EventClass::rejected;
    event.reason = slopes.rejected;
    return;
  }
  const Rhythm rhythm = rhythm_of(record, place, without, limits);
  if (!slopes.any(limits)) {
    classify_flat(event, rhythm, all);
    return;
  }
  constexpr double same_time = 0.01;  // the allowed difference between two clocks within a run
  if (rhythm.off_time < same_time && 2 * rhythm.off_time < rhythm.off_cycles) {
    event.kind = EventClass::clock_like;
    event.per_ms = rhythm.per_ms;
    event.reason = fmt::format("{} a millisecond, at any frequency of the core", number_text(rhythm.per_ms));
    return;
  }
  name_it(event, record, slopes, library, limits);
}

// A claim requires an effect: a payload in which the coordinate and the counts both differ from the control's.
bool has_effect(const DiscoveredEvent& event, const Record& record) {
  for (const auto& contrast : event.contrasts) {
    if (contrast.low <= 0) continue;
    const auto with = payload_of(record, contrast.payload), without = payload_of(record, contrast.control);
    for (const result::Term& term : event.terms) {
      const std::size_t c = *result::coordinate_of(term.coordinate);
      if (record.payloads[*with].composition[c] > record.payloads[*without].composition[c] + 0.001) return true;
    }
  }
  return false;
}

bool same_slopes(const DiscoveredEvent& a, const DiscoveredEvent& b, const Limits& limits) {
  for (std::size_t i = 0; i < a.slopes.size(); ++i) {
    result::Slope wide = a.slopes[i];
    wide.error = std::hypot(a.slopes[i].error, b.slopes[i].error);
    if (!agrees(wide, b.slopes[i].value, limits)) return false;
  }
  return true;
}

// Finds events that cannot be distinguished.
void find_twins(result::Discovery& answer, const Limits& limits) {
  const auto counts = [](const DiscoveredEvent& event) {
    return event.kind == EventClass::counts || event.kind == EventClass::unexplained;
  };
  for (DiscoveredEvent& discovered_event : answer.events) {
    for (const DiscoveredEvent& other : answer.events) {
      if (discovered_event.code == other.code || !counts(discovered_event) || !counts(other) ||
          !same_slopes(discovered_event, other, limits))
        continue;
      discovered_event.same_as.push_back(other.code);
    }
  }
}

void describe_payloads(result::Discovery& answer, const Record& record, const std::vector<Facts>& library) {
  answer.has_all_payloads = std::all_of(library.begin(), library.end(), [&](const Facts& facts) {
    return std::any_of(record.payloads.begin(), record.payloads.end(),
                       [&](const Facts& other) { return other.name == facts.name; });
  });
  Matrix a;
  for (const Facts& facts : record.payloads) {
    answer.payloads.push_back(facts.name);
    answer.compositions.push_back(facts.composition);
    a.emplace_back(facts.composition.begin(), facts.composition.end());
  }
  const Independence all = independence(a);
  answer.rank = all.rank;
  answer.condition = all.condition;
  for (std::size_t c = 0; c < result::coordinate_count; ++c) {
    const bool there = std::any_of(record.payloads.begin(), record.payloads.end(),
                                   [c](const Facts& one) { return one.composition[c] > 0; });
    if (!there) answer.unseen.emplace_back(result::coordinate_names[c]);
  }
}

}  // namespace

Result<void> preflight(const Record& record, const Limits& limits) {
  if (record.payloads.empty()) return fail(Code::bad_usage, "there is no payload");
  std::vector<double> x, y;
  for (const Run& run : record.runs) {
    if (run.stage != Run::Stage::slopes || run.repeat == 0 || run.payload != 0 || run.running < limits.running)
      continue;
    x.push_back(static_cast<double>(record.sizes[run.size]));
    y.push_back(static_cast<double>(run.instructions));
  }
  if (x.size() < 2) return {};
  const double expected = record.payloads[0].composition[0];
  const double measured = theil_sen(x, y).slope;
  if (std::abs(measured - expected) <= 0.01 * expected + 0.001) return {};
  return fail(Code::cannot_measure,
              fmt::format("the fixed instruction counter reports {} per copy of '{}' instead of {}: counts of this PMU "
                          "cannot be trusted",
                          number_text(measured), record.payloads[0].name, number_text(expected)),
              "run `tally verify`");
}

result::Discovery analyse(const Record& raw, const std::vector<Facts>& library, const Limits& limits) {
  Record record = raw;
  measure_cycles(record, limits);
  result::Discovery answer;
  answer.backend = record.backend;
  answer.seed = record.seed;
  answer.counters = record.counters;
  answer.sizes = record.sizes;
  answer.repeats = record.repeats;
  describe_payloads(answer, record, library);
  answer.runs = static_cast<std::int64_t>(record.runs.size());
  for (const Run& run : record.runs) answer.discarded += !why_discarded(record, run, limits).empty();

  if (limits.share != Limits().share) {
    answer.notices.push_back(fmt::format("counts may be {} from the number that a name predicts, instead of {}",
                                         percent_text(100 * limits.share), percent_text(100 * Limits().share)));
  }
  const std::vector<Affinity> where = affinities(record);
  std::vector<int> without;
  for (const Liar& liar : liars(record, where)) {
    without.push_back(liar.counter);
    answer.notices.push_back(fmt::format("counter {} is excluded: it disagrees with the others for {} of {} events",
                                         liar.counter, liar.disagreed, liar.of));
  }
  for (std::size_t place = 0; place < record.events.size(); ++place) {
    DiscoveredEvent event;
    event.code = record.events[place];
    event.counters = where[place].counters;
    if (where[place].alive) {
      const Slopes slopes = slopes_of(record, place, without, limits);
      event.slopes = slopes.of;
      event.contrasts = contrasts_of(record, slopes);
      classify(event, record, place, slopes, without, library, limits, answer.has_all_payloads);
      const bool suspicious = !where[place].suspicion.empty() && without.empty();
      if (suspicious) event.reason += (event.reason.empty() ? "" : "; ") + where[place].suspicion;
    }
    answer.events.push_back(std::move(event));
  }
  judge(answer.events, limits);
  for (DiscoveredEvent& event : answer.events) {
    if (event.kind != EventClass::counts || has_effect(event, record)) continue;
    event.kind = EventClass::unexplained;
    event.reason = "the fit has no significant effect";
  }
  find_twins(answer, limits);
  return answer;
}

}  // namespace tally::discover
