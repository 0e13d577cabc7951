#include "tally/output/analysis/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/ranks.hpp"
#include "tally/output/analysis/profile_sums.hpp"

namespace tally::report {
namespace {

using result::EventCount;
using result::Stat;

constexpr double significance = 0.05;

std::vector<double> values_of_runs(const Stat& stat, const std::string& event) {
  std::vector<double> values;
  for (const result::Run& run : stat.runs)
    for (const EventCount& count : run.counts)
      if (count.name.text() == event && count.count.value) values.push_back(static_cast<double>(*count.count.value));
  return values;
}

Verdict verdict_of(std::int64_t change) {
  return change == 0 ? Verdict::same : change < 0 ? Verdict::better : Verdict::worse;
}

bool all_equal(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

void leave_undecided(ComparedCount& row, std::string reason) {
  row.verdict = Verdict::undecided;
  row.reason = std::move(reason);
}

std::string trusts(Trust before, Trust after) {
  if (before == after) return std::string(tally::name(before));
  return fmt::format("{} / {}", tally::name(before), tally::name(after));
}

/// One event of both results. Sets `probability` if runs are to be compared, with the verdict if they differ.
ComparedCount compare_event(const Stat& before, const Stat& after, const result::Event& old_event,
                            const result::Event& new_event) {
  const Count &old_count = old_event.total.count, &new_count = new_event.total.count;
  ComparedCount row{.event = old_event.total.name.text(),
                    .unit = old_event.total.unit,
                    .before = old_count.value,
                    .after = new_count.value,
                    .trust = trusts(old_count.trust, new_count.trust)};
  const Trust worse = worst(old_count.trust, new_count.trust);
  if (worse == Trust::absent) {
    leave_undecided(row, old_count.trust == Trust::absent ? "not counted before" : "not counted after");
    return row;
  }
  const bool is_exact = worse == Trust::exact;
  if (!is_exact && before.environment.cpu != after.environment.cpu) {
    leave_undecided(row, "the processors differ");
    return row;
  }
  if (worse == Trust::modelled && old_count.model != new_count.model) {
    leave_undecided(row, "the models differ");
    return row;
  }
  const auto old_values = values_of_runs(before, row.event), new_values = values_of_runs(after, row.event);
  const bool is_repeated = old_values.size() > 1 || new_values.size() > 1;
  const bool is_constant = is_exact && all_equal(old_values) && all_equal(new_values);
  if (is_exact && (!is_repeated || is_constant)) {
    row.verdict = verdict_of(row.change());
    return row;
  }
  if (old_values.size() < fewest_repeats || new_values.size() < fewest_repeats) {
    if (worse == Trust::partial && !is_repeated)
      leave_undecided(row, "partial: " + (old_count.trust == Trust::partial ? old_count.reason : new_count.reason));
    else
      leave_undecided(row, fmt::format("needs at least {} runs on each side: -r {}", fewest_repeats, 10));
    return row;
  }
  row.probability = stats::mann_whitney(old_values, new_values);
  row.verdict = verdict_of(row.change());
  return row;
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
    if (*row.probability >= significance) row.verdict = Verdict::same;
  }
}

/// The functions that changed by the first event of both profiles, largest change first.
Result<std::vector<ComparedCount>> compare_functions(const result::Profile& before, const result::Profile& after,
                                                     std::vector<std::string>& warnings) {
  const auto difference = difference_of(before, after);
  if (!difference) return fail(difference.error());
  if (std::string caution = difference->caution(); !caution.empty()) warnings.push_back(std::move(caution));
  const std::vector<std::string> names = difference->names(false);
  std::vector<ComparedCount> rows;
  for (std::size_t e = 0; e < difference->events.size(); ++e) {
    const EventCount& total = after.stat.events[difference->event_index_after[e]].total;
    const Trust trust =
        worst(before.stat.events[difference->event_index_before[e]].total.count.trust, total.count.trust);
    for (std::size_t f = 0; f < difference->functions.size(); ++f) {
      const Change& change = difference->functions[f];
      if (change.by(e) == 0) continue;
      ComparedCount row{.event = difference->events[e],
                        .function = names[f],
                        .unit = total.unit,
                        .before = change.before.counts[e],
                        .after = change.after.counts[e],
                        .trust = std::string(tally::name(trust))};
      row.verdict = verdict_of(row.change());
      if (difference->is_estimated(e)) {
        row.difference = difference->estimate(change, e);
        if (row.difference->low <= 0 && row.difference->high >= 0) row.verdict = Verdict::same;
      } else if (trust != Trust::exact && before.stat.environment.cpu != after.stat.environment.cpu) {
        leave_undecided(row, "the processors differ");
      }
      rows.push_back(std::move(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const ComparedCount& a, const ComparedCount& b) {
    const bool a_first = a.event == difference->events.front(), b_first = b.event == difference->events.front();
    return a_first != b_first ? a_first : std::abs(a.change()) > std::abs(b.change());
  });
  return rows;
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::same: return "same";
    case Verdict::better: return "better";
    case Verdict::worse: return "worse";
    case Verdict::undecided: break;
  }
  return "undecided";
}

std::optional<double> ComparedCount::relative_change() const {
  if (!before || !after || *before == 0) return std::nullopt;
  return static_cast<double>(change()) / static_cast<double>(*before);
}

const result::Event* find_event(const Stat& stat, const EventName& name) {
  const auto found = std::find_if(stat.events.begin(), stat.events.end(),
                                  [&](const result::Event& one) { return one.total.name.text() == name.text(); });
  return found == stat.events.end() ? nullptr : &*found;
}

const Stat* counts_of(const result::AnyResult& result) {
  if (const auto* const stat = std::get_if<Stat>(&result)) return stat;
  if (const auto* const profile = std::get_if<result::Profile>(&result)) return &profile->stat;
  return nullptr;
}

std::optional<Error> not_comparable(const Stat& before, const Stat& after) {
  const auto &old_words = before.command, &new_words = after.command;
  const bool are_commands = !old_words.empty() && !new_words.empty();
  if (are_commands && file_name(old_words.front()) == file_name(new_words.front()) &&
      std::equal(old_words.begin() + 1, old_words.end(), new_words.begin() + 1, new_words.end()))
    return std::nullopt;
  if (old_words.empty() && new_words.empty() && before.target == after.target) return std::nullopt;
  const auto text = [](const Stat& stat) { return stat.command.empty() ? stat.target : shell_words(stat.command); };
  return Error{Code::bad_usage,
               fmt::format("the results are of different programs: '{}' and '{}'", text(before), text(after)),
               "--force compares them anyway", 0};
}

Result<Comparison> compare(const result::AnyResult& before, const result::AnyResult& after) {
  Comparison comparison{.before = counts_of(before), .after = counts_of(after)};
  for (const result::Event& event : comparison.before->events) {
    const result::Event* const other = find_event(*comparison.after, event.total.name);
    if (other != nullptr)
      comparison.counts.push_back(compare_event(*comparison.before, *comparison.after, event, *other));
  }
  if (comparison.counts.empty())
    return fail(Code::bad_usage, "no event is in both results", "count the same events with -e");
  correct_for_number(comparison.counts);
  for (const Stat* const stat : {comparison.before, comparison.after})
    if (stat->incomplete)
      comparison.warnings.push_back(
          fmt::format("the result {} is incomplete", stat == comparison.before ? "before" : "after"));
  const auto *const old_profile = std::get_if<result::Profile>(&before), *const new_profile =
                                                                             std::get_if<result::Profile>(&after);
  if (old_profile != nullptr && new_profile != nullptr) {
    auto functions = compare_functions(*old_profile, *new_profile, comparison.warnings);
    if (!functions) return fail(functions.error());
    comparison.functions = *std::move(functions);
  }
  return comparison;
}

}  // namespace tally::report
