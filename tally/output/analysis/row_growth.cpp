#include "tally/output/analysis/row_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/comparable.hpp"

namespace tally::output {
namespace {

/// At most 2,000 of the runs, evenly spaced: all pairs of both sides are compared.
std::vector<double> thinned(const std::vector<Value>& runs) {
  constexpr std::size_t most = 2000;
  const std::size_t step = runs.size() / most + 1;
  std::vector<double> kept;
  for (std::size_t i = 0; i < runs.size(); i += step) kept.push_back(static_cast<double>(runs[i]));
  return kept;
}

/// The runs of one side; a single value if there are none. A function of a profile has no runs, and what differs
/// between runs without --repeatable (addresses, the environment) is mostly in functions of the dynamic linker; but
/// what a model counts depends on addresses everywhere.
RepeatedValue repeated_value(const ComparedCount& row, const Measure* measure, Value value, const Comparable& side) {
  const bool is_exact = row.trust == name(Trust::exact);
  const bool can_repeat = (is_exact || row.trust == name(Trust::modelled)) && !(measure && measure->bounds);
  const bool repeats = (measure == nullptr && is_exact) || side.repeatable == true;
  RepeatedValue repeated{{}, can_repeat && repeats && side.is_single_threaded, join(side.sources, ", ")};
  const bool is_profile = measure == nullptr || !measure->how_to_repeat.empty();
  constexpr const char* of_function = "`tally stat --repeatable -r 5 --function NAME` decides what a function counts";
  const bool may_repeat = can_repeat && side.is_single_threaded;
  if (may_repeat && side.sources.empty())
    repeated.how_to_decide = is_profile ? "count both with --repeatable" : repeated.how_to_decide;
  else if (measure == nullptr)
    repeated.how_to_decide =
        may_repeat ? of_function : std::string("the program has several threads or processes; ") + of_function;
  else if (is_profile)
    repeated.how_to_decide = "needs " + measure->how_to_repeat;
  else if (!can_repeat)
    repeated.how_to_decide = "repeat both sides (-r 10)";
  else if (may_repeat)
    repeated.how_to_decide = "count both 5 times (-r 5)";
  else if (repeats)
    repeated.how_to_decide = "the program has several threads or processes: count both 5 times (-r 5)";
  const auto is_clock = [](const std::string& source) { return source == "clock" || source == "rdtsc"; };
  if (may_repeat && !side.sources.empty() && std::all_of(side.sources.begin(), side.sources.end(), is_clock) &&
      repeated.how_to_decide.find("--clock") == std::string::npos)
    repeated.how_to_decide += "; or count both with --repeatable --clock counted";
  if (measure != nullptr) repeated.runs = thinned(measure->runs);
  if (repeated.runs.size() < 2) repeated.runs = {static_cast<double>(value)};
  return repeated;
}

bool has_bounds(const ComparedCount& row) {
  return row.measure_before != nullptr && (row.measure_before->bounds || row.measure_after->bounds);
}

/// A change that has an interval, but no runs or whose runs have the same error: of a sampled function, or of values
/// with 95 % intervals.
std::optional<Growth> growth_by_interval(const ComparedCount& row, bool is_relative) {
  const bool is_profile = row.measure_before == nullptr;
  const bool has_intervals = !is_profile && row.measure_before->interval && row.measure_after->interval &&
                             row.measure_before->runs.size() < 2 && row.measure_after->runs.size() < 2;
  if (!row.interval || !(is_profile || has_intervals || has_bounds(row)) || (is_relative && *row.before == 0))
    return std::nullopt;
  const double sign = row.better == Better::more ? -1 : 1;
  const double unit = is_relative ? std::abs(static_cast<double>(*row.before)) : 1;
  const double at_low = sign * static_cast<double>(row.interval->low) / unit;
  const double at_high = sign * static_cast<double>(row.interval->high) / unit;
  return Growth{std::min(at_low, at_high), std::max(at_low, at_high)};
}

/// The reason for partial counts, if a side of the row is partial.
std::string partial_reason(const ComparedCount& row) {
  for (const Measure* const measure : {row.measure_before, row.measure_after})
    if (measure != nullptr && measure->trust == Trust::partial && !measure->reason.empty())
      return measure->reason + "; ";
  return "";
}

/// Why a change of modelled cycles, or of a cause of them, may be an error of the model; empty if it is larger than
/// that, or if instructions changed in the same direction, by a tenth of it or more.
std::string doubt_of_model(const ComparedCount& row, const Comparison& comparison) {
  if (!is_modelled_cycles(row) || row.change() == 0) return "";
  double percent = 20;  // of a model that nobody measured: more than the mean error of those that were
  std::string error = "20 %, and the error of this model was not measured";
  Value all = *row.before;
  for (const Measure& measure : comparison.before->measures) {
    if (!measure.subject.empty() || !is_event(measure.name, "cycles") || !measure.value) continue;
    if (!is_event(row.event, "cycles")) all = *measure.value;
    constexpr std::string_view label = "mean error ";
    const std::size_t at = measure.model.find(label);
    if (at == std::string::npos) continue;
    percent = std::strtod(measure.model.c_str() + at + label.size(), nullptr);
    error = fmt::format("the model's mean error of {:g} %", percent);
  }
  const auto relative = static_cast<double>(row.change() / all);
  if (all == 0 || 10 * row.instructions.value_or(0) / relative >= 1 || 100 * std::abs(relative) >= percent) return "";
  if (!row.instructions) return fmt::format("less than {}: count instructions, too (-e instructions,cycles)", error);
  return fmt::format(
      "less than {}; instructions do not show it: compare times, of `tally stat --backend none -r 20 -e task-clock`",
      error);
}

}  // namespace

bool is_modelled_cycles(const ComparedCount& row) {
  return row.trust == name(Trust::modelled) && row.event.starts_with("cycles") && !row.is_metric;
}

std::string missing_work(const Measure& measure) {
  // The end of the reasons of all backends. How much is missing differs from run to run, or all of it is missing.
  const auto has = [&](const char* why) { return measure.reason.find(why) != std::string::npos; };
  if (measure.trust != Trust::partial || !(has("still running") || has("do not run the loop"))) return "";
  return measure.reason + ", so work is missing" + (has("still running") ? ": count with --wait-all" : "");
}

std::string different_settings(const Comparison& comparison, Trust trust) {
  std::vector<std::string> settings = comparison.other_settings;
  if (trust == Trust::modelled)
    settings.insert(settings.end(), comparison.other_models.begin(), comparison.other_models.end());
  if (settings.empty()) return "";
  return fmt::format("{} differ{}: count both in the same way (`tally compare --force` ignores it)",
                     join(settings, ", "), settings.size() == 1 ? "s" : "");
}

RowGrowth growth_of(const ComparedCount& row, const Comparison& comparison, bool is_relative) {
  if (row.is_incomparable) return {row.reason};
  RowGrowth result{.growth = std::string(),
                   .has_bounds = has_bounds(row),
                   .before = repeated_value(row, row.measure_before, *row.before, *comparison.before),
                   .after = repeated_value(row, row.measure_after, *row.after, *comparison.after)};
  std::string missing;
  for (const Measure* const measure : {row.measure_before, row.measure_after})
    if (measure != nullptr && missing.empty()) missing = missing_work(*measure);
  if (!missing.empty()) {
    result.growth = "partial: " + missing;
  } else if (const auto by_interval = growth_by_interval(row, is_relative)) {
    result.growth = *by_interval;
    result.is_by_interval = true;
  } else if (result.has_bounds) {
    result.growth = row.interval ? "a part of 0 is not defined" : result.before.how_to_decide;
  } else {
    result.growth = growth_between(result.before, result.after, row.better == Better::more, is_relative);
    if (auto* const why = std::get_if<std::string>(&result.growth)) *why = partial_reason(row) + *why;
  }
  return result;
}

std::string reason_by_cost(const ComparedCount& row, const Comparison& comparison) {
  if (std::string why = doubt_of_model(row, comparison); !why.empty()) return why;
  if (row.measure_before == nullptr || row.measure_before->cost.empty() || !row.is_different) return "";
  const auto cost = std::find_if(comparison.counts.begin(), comparison.counts.end(), [&](const ComparedCount& count) {
    return count.event == row.measure_before->cost && count.subject == row.subject;
  });
  const Verdict direction = row.growth() < 0 ? Verdict::better : Verdict::worse;
  if (cost == comparison.counts.end() || cost->verdict == direction) return "";
  return fmt::format("{} decides, and is {}", cost->event, name(cost->verdict));
}

void decide(ComparedCount& row) {
  row.is_different = row.change() != 0;
  if (!row.is_different) {
    row.verdict = Verdict::same;
  } else if (row.better == Better::neither) {
    row.verdict = Verdict::undecided;
    row.reason = "it changed; neither more nor less is better";
  } else {
    row.verdict = row.growth() < 0 ? Verdict::better : Verdict::worse;
  }
}

void leave_undecided(ComparedCount& row, std::string reason) {
  row.verdict = Verdict::undecided;
  row.reason = std::move(reason);
}

void decide_by_growth(ComparedCount& row, const Comparison& comparison) {
  const RowGrowth result = growth_of(row, comparison, false);
  if (const auto* const why = std::get_if<std::string>(&result.growth))
    leave_undecided(row, *why);
  else
    decide(row);
}

}  // namespace tally::output
