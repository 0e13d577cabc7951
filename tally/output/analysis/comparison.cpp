#include "tally/output/analysis/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/ranks.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/comparison_profiles.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/analysis/growth.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/row_growth.hpp"

namespace tally::output {

ComparedCount empty_row(const Measure& measure) {
  return {.event = measure.name,
          .subject = measure.subject,
          .unit = measure.unit,
          .is_fraction = measure.is_fraction,
          .is_metric = measure.is_metric,
          .fraction_unit = measure.fraction_unit,
          .better = measure.better};
}

namespace {

using result::EventCount;
using result::Stat;

/// Of identical builds, one comparison in a hundred finds a difference.
constexpr double significance = 0.01;
constexpr double z_of_99_percent = 2.5758293035489004;
constexpr double z_of_95_percent = 1.959963984540054;

bool all_equal(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [&](Value value) { return value == values.front(); });
}

std::string trusts(Trust before, Trust after) {
  if (before == after) return std::string(tally::name(before));
  return fmt::format("{} / {}", tally::name(before), tally::name(after));
}

std::vector<double> doubles(const std::vector<Value>& values) { return {values.begin(), values.end()}; }

/// Compares the series of both sides.
void compare_runs(ComparedCount& row, const Measure& before, const Measure& after) {
  const std::vector<double> old_values = doubles(before.runs), new_values = doubles(after.runs);
  row.probability = stats::mann_whitney(old_values, new_values);
  if (const auto shift = stats::shift_interval(old_values, new_values))
    row.interval = ValueInterval{shift->low, shift->high};
  decide(row);
}

/// The standard error of the difference of two values with 95 % intervals.
double error_of_difference(const ValueInterval& before, const ValueInterval& after) {
  const auto error = [](const ValueInterval& interval) {
    return static_cast<double>(interval.high - interval.low) / (2 * z_of_95_percent);
  };
  return std::hypot(error(before), error(after));
}

/// Compares two values that have intervals: their difference in standard errors.
void compare_intervals(ComparedCount& row, const ValueInterval& before, const ValueInterval& after) {
  const double both = error_of_difference(before, after);
  const auto change = static_cast<double>(row.change());
  row.probability = both > 0 ? std::erfc(std::abs(change) / both / std::numbers::sqrt2) : change == 0 ? 1.0 : 0.0;
  row.interval = ValueInterval{change - z_of_99_percent * both, change + z_of_99_percent * both};
  decide(row);
}

bool has_bounds(const Measure& before, const Measure& after) { return before.bounds || after.bounds; }

/// Compares the series of both sides, whose runs all have the same error. The difference must exceed both: what runs
/// differ by, and that error.
void compare_bounded_runs(ComparedCount& row, const Measure& before, const Measure& after) {
  compare_runs(row, before, after);
  const double error =
      error_of_difference(before.bounds.value_or(ValueInterval{}), after.bounds.value_or(ValueInterval{}));
  if (row.interval) {
    row.interval->low -= z_of_99_percent * error;
    row.interval->high += z_of_99_percent * error;
  }
  if (error <= 0) return;
  const double by_error = std::erfc(std::abs(static_cast<double>(row.change())) / error / std::numbers::sqrt2);
  row.probability = std::max(row.probability.value_or(0), by_error);
}

/// Why a row that is not exact cannot be decided with any number of runs; empty if it can.
std::string why_incomparable(const Comparison& comparison, const Measure& old_measure, const Measure& new_measure) {
  const Trust worse = worst(old_measure.trust, new_measure.trust);
  if (worse == Trust::absent) {
    const bool is_before = old_measure.trust == Trust::absent;
    const std::string& reason = is_before ? old_measure.reason : new_measure.reason;
    return fmt::format("not counted {}{}", is_before ? "before" : "after", reason.empty() ? "" : ": " + reason);
  }
  if (old_measure.failure != new_measure.failure) {
    const auto text = [](const Measure& measure) { return measure.failure.empty() ? "success" : measure.failure; };
    return fmt::format("every run ended with {} before and with {} after", text(old_measure), text(new_measure));
  }
  if (old_measure.unit != new_measure.unit || old_measure.is_fraction != new_measure.is_fraction ||
      old_measure.fraction_unit != new_measure.fraction_unit)
    return "the units differ";
  if (worse != Trust::exact && comparison.before->environment.cpu != comparison.after->environment.cpu)
    return other_processors;
  if (worse == Trust::modelled && old_measure.model != new_measure.model)
    return "the models differ: use one --model for both";
  return different_settings(comparison, worse);
}

/// The value, if the runs ended as those of the other result.
std::optional<Value> comparable_value(const Measure& one, const Measure& other) {
  const bool failed = !one.failure.empty() && one.failure != other.failure;
  return one.trust == Trust::absent || failed ? std::nullopt : one.value;
}

/// The relative change of the instructions of a program or region.
std::optional<double> change_of_instructions(const Comparison& comparison, const std::string& subject) {
  ComparedCount row{.event = "instructions", .subject = subject};
  for (auto [side, value] : {std::pair{comparison.before, &row.before}, {comparison.after, &row.after}})
    for (const Measure& measure : side->measures)
      if (measure.subject == subject && is_event(measure.name, "instructions")) *value = measure.value;
  return row.relative_change();
}

/// One quantity of both results. Sets `probability` if it is tested, with the verdict if the sides differ.
ComparedCount compare_measure(const Comparison& comparison, const Measure& old_measure, const Measure& new_measure) {
  ComparedCount row = empty_row(old_measure);
  row.before = comparable_value(old_measure, new_measure);
  row.after = comparable_value(new_measure, old_measure);
  row.trust = trusts(old_measure.trust, new_measure.trust);
  if (std::string why = why_incomparable(comparison, old_measure, new_measure); !why.empty()) {
    leave_undecided(row, std::move(why));
    row.is_incomparable = true;
    return row;
  }
  if (is_modelled_cycles(row)) row.instructions = change_of_instructions(comparison, row.subject);
  row.measure_before = &old_measure;
  row.measure_after = &new_measure;
  const Trust worse = worst(old_measure.trust, new_measure.trust);
  const bool is_repeated = old_measure.runs.size() > 1 || new_measure.runs.size() > 1;
  const bool has_runs = std::min(old_measure.runs.size(), new_measure.runs.size()) >= fewest_runs;
  if (has_bounds(old_measure, new_measure)) {
    if (has_runs) compare_bounded_runs(row, old_measure, new_measure);
  } else if (old_measure.interval && new_measure.interval && !is_repeated && worse != Trust::partial) {
    compare_intervals(row, *old_measure.interval, *new_measure.interval);
  } else if (has_runs && !(all_equal(old_measure.runs) && all_equal(new_measure.runs))) {
    compare_runs(row, old_measure, new_measure);
  }
  if (!row.probability) decide_by_growth(row, comparison);
  return row;
}

/// Whether there are enough runs, and every run of one side is above all of the other: no chance, for any number of
/// rows. Not if all runs of a side may have the same error.
bool are_apart(const ComparedCount& row) {
  if (has_bounds(*row.measure_before, *row.measure_after)) return false;
  const std::vector<Value>&before = row.measure_before->runs, &after = row.measure_after->runs;
  if (before.size() < fewest_runs || after.size() < fewest_runs) return false;
  const auto [old_least, old_most] = std::minmax_element(before.begin(), before.end());
  const auto [new_least, new_most] = std::minmax_element(after.begin(), after.end());
  return *old_most < *new_least || *new_most < *old_least;
}

/// Rows whose difference may be chance, after the correction for all rows that were tested.
void correct_for_number(std::vector<ComparedCount>& rows) {
  std::vector<double> probabilities;
  for (const ComparedCount& row : rows)
    if (row.probability) probabilities.push_back(*row.probability);
  const auto adjusted = stats::benjamini_hochberg(probabilities);
  std::size_t next = 0;
  for (ComparedCount& row : rows) {
    if (!row.probability) continue;
    row.probability = adjusted[next++];
    if (*row.probability < significance || are_apart(row)) continue;
    row.is_different = false;
    row.verdict = Verdict::same;
    row.reason.clear();
  }
}

/// "one, two, three and 4 more".
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  return join(first, ", ") + (names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

/// Whether a result has a quantity of the measure's benchmark.
bool has_subject(const Comparable& result, const Measure& measure) {
  return std::any_of(result.measures.begin(), result.measures.end(),
                     [&](const Measure& one) { return one.subject == measure.subject; });
}

/// Whether the result has an instruction mix, and the measure is of one: 0 if that mix lacks it.
bool is_in_mix(const Comparable& result, const Measure& measure) {
  return std::ranges::find(mix_subjects, measure.subject) != std::end(mix_subjects) &&
         has_subject(result, {.subject = mix_subjects[0], .name = {}});
}

/// Compares what is in both results; warns about the rest.
void compare_measures(Comparison& comparison) {
  const Comparable &before = *comparison.before, &after = *comparison.after;
  const bool are_benchmarks = before.lists_benchmarks && after.lists_benchmarks;
  std::map<std::pair<std::string, std::string>, const Measure*> others;
  for (const Measure& measure : after.measures) others.try_emplace({measure.subject, measure.name}, &measure);
  std::vector<std::string> removed, added;
  const auto label = [](const Measure& one) {
    return one.subject.empty() ? one.name : one.name + " of " + one.subject;
  };
  // Compares a measure that the other result lacks: 0 in a mix; a benchmark of a list did not run.
  const auto compare_alone = [&](const Comparable& other, const Measure& measure) {
    Measure substitute = measure;
    if (are_benchmarks && (&other == &after || has_subject(other, measure))) {
      substitute.trust = Trust::absent;
      substitute.reason = "it is not in the result";
    } else if (is_in_mix(other, measure)) {
      substitute.value = 0;
      substitute.runs = {Value{0}};
    } else {
      return false;
    }
    ComparedCount row = &other == &after ? compare_measure(comparison, measure, substitute)
                                         : compare_measure(comparison, substitute, measure);
    if (row.measure_before != nullptr) row.measure_before = row.measure_after = &measure;  // the substitute ends here
    comparison.counts.push_back(std::move(row));
    return true;
  };
  for (const bool is_metric : {false, true})
    for (const Measure& measure : before.measures) {
      if (measure.is_metric != is_metric) continue;
      const auto other = others.find({measure.subject, measure.name});
      if (other != others.end()) {
        comparison.counts.push_back(compare_measure(comparison, measure, *other->second));
        others.erase(other);
      } else if (!compare_alone(after, measure) && !is_metric) {
        removed.push_back(label(measure));
      }
    }
  for (const Measure& measure : after.measures) {
    if (measure.is_metric || others.count({measure.subject, measure.name}) == 0) continue;
    if (!compare_alone(before, measure)) added.push_back(label(measure));
  }
  for (const auto& [names, where] : {std::pair{&removed, "before"}, {&added, "after"}})
    if (!names->empty())
      comparison.warnings.push_back(fmt::format("only in the result {}: {}", where, names_text(*names)));
}

/// Names the settings that differ. Those of models do not matter if nothing is modelled.
void compare_settings(Comparison& comparison, bool forced) {
  const auto is_modelled = [](const Measure& measure) { return measure.trust == Trust::modelled; };
  const auto& measures = comparison.before->measures;
  const bool has_models = std::any_of(measures.begin(), measures.end(), is_modelled);
  std::vector<std::string> all;
  for (const ChangedSetting& setting : changed_settings(comparison.before->settings, comparison.after->settings)) {
    if (setting.is_of_models && !has_models) continue;
    all.push_back(setting.text);
    if (!forced) (setting.is_of_models ? comparison.other_models : comparison.other_settings).push_back(setting.name);
  }
  if (!all.empty())
    comparison.warnings.push_back(
        fmt::format("the results were counted with other settings: {}: count both in the same way", join(all, ", ")));
}

Result<void> check_chosen(const std::string& name, const Comparable& result, const char* side) {
  std::vector<std::string> names;
  for (const Measure& measure : result.measures) {
    if (is_event(measure.name, name)) return {};
    if (std::find(names.begin(), names.end(), measure.name) == names.end()) names.push_back(measure.name);
  }
  return fail(Code::bad_usage, fmt::format("the result {} does not have '{}'", side, printable(name)),
              "it has " + join(names, ", "));
}

/// Whether both results are of commands, whose programs have different names.
bool have_other_names(const Comparable& before, const Comparable& after) {
  return !before.command.empty() && !after.command.empty() &&
         file_name(before.command.front()) != file_name(after.command.front());
}

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::string_view names[] = {"same", "better", "worse", "undecided"};
  return names[static_cast<std::size_t>(verdict)];
}

const std::vector<ComparedCount>& Comparison::rows(ComparedRows which) const {
  switch (which) {
    case ComparedRows::lines: return lines;
    case ComparedRows::objects: return objects;
    case ComparedRows::processes: return processes;
    case ComparedRows::threads: return threads;
    case ComparedRows::functions: break;
  }
  return functions;
}

std::optional<double> ComparedCount::relative_change() const {
  if (!before || !after || *before == 0) return std::nullopt;
  return static_cast<double>(change() / *before);
}

std::optional<Error> not_comparable(const Comparable& before, const Comparable& after, bool allows_other_name) {
  if (before.failure != after.failure) {
    const auto text = [](const Comparable& one) { return one.failure.empty() ? "success" : one.failure; };
    return Error{Code::bad_usage,
                 fmt::format("the program ended with {} before and with {} after", text(before), text(after)),
                 "count runs that end in the same way; --force compares these anyway", 0};
  }
  const auto &old_words = before.command, &new_words = after.command;
  const bool have_same_arguments =
      !old_words.empty() && !new_words.empty() &&
      std::equal(old_words.begin() + 1, old_words.end(), new_words.begin() + 1, new_words.end());
  if (have_same_arguments && (allows_other_name || !have_other_names(before, after))) return std::nullopt;
  if (old_words.empty() && new_words.empty() && before.target == after.target) return std::nullopt;
  const auto text = [](const Comparable& one) { return one.command.empty() ? one.target : shell_words(one.command); };
  return Error{Code::bad_usage,
               fmt::format("the results are of different programs: '{}' and '{}'", text(before), text(after)),
               have_same_arguments ? "their names differ: a gate needs --force" : "--force compares them anyway", 0};
}

void keep_chosen(std::vector<ComparedCount>& rows, const std::vector<std::string>& chosen) {
  if (chosen.empty()) return;
  std::erase_if(rows, [&](const ComparedCount& row) {
    return std::none_of(chosen.begin(), chosen.end(),
                        [&](const std::string& name) { return is_event(row.event, name); });
  });
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const ComparedCount& row) { return is_event(row.event, chosen.front()); });
}

Result<Comparison> compare(const Comparable& before, const Comparable& after, bool forced,
                           std::vector<std::string> chosen) {
  for (const std::string& name : chosen)
    for (const Comparable* const side : {&before, &after})
      if (const auto checked = check_chosen(name, *side, side == &before ? "before" : "after"); !checked)
        return fail(checked.error());
  Comparison comparison{.before = &before, .after = &after, .chosen = std::move(chosen)};
  compare_settings(comparison, forced);
  compare_measures(comparison);
  if (comparison.counts.empty())
    return fail(Code::bad_usage, "no event is in both results", "count the same events with -e");
  correct_for_number(comparison.counts);
  for (ComparedCount& row : comparison.counts)
    if (std::string why = row.is_different ? reason_by_cost(row, comparison) : ""; !why.empty())
      leave_undecided(row, std::move(why));
  if (have_other_names(before, after))
    comparison.warnings.push_back(fmt::format("the programs have different names: {} and {}",
                                              file_name(before.command.front()), file_name(after.command.front())));
  for (const Comparable* const side : {&before, &after})
    if (side->incomplete)
      comparison.warnings.push_back(fmt::format("the result {} is incomplete", side == &before ? "before" : "after"));
  if (!before.note.empty()) comparison.warnings.push_back(before.note);
  if (!after.note.empty() && after.note != before.note) comparison.warnings.push_back(after.note);
  if (before.profile != nullptr && after.profile != nullptr) {
    if (auto compared = compare_profiles(comparison); !compared) return fail(compared.error());
  }
  keep_chosen(comparison.counts, comparison.chosen);
  return comparison;
}

}  // namespace tally::output
