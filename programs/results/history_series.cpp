#include "programs/results/history_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "programs/results/change_points.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/comparable.hpp"

namespace tally::results {
namespace {

/// Single runs of a program that can vary are alike if they differ by less than this part: 0.01 %.
constexpr std::int64_t noise_of_runs = 10'000;

void find_steps(HistorySeries& series) {
  std::vector<std::int64_t> values;
  // A level lasts while a number exists that the intervals of all its results contain.
  std::int64_t low = 0, high = -1;
  for (const SeriesValue& series_value : series.values) {
    const result::HistoryCount& count = *series_value.count;
    // Another run of a program that reads a clock may differ by that.
    const std::int64_t noise = series_value.entry->can_vary && !count.low ? *count.value / noise_of_runs / 2 : 0;
    const std::int64_t from = count.low.value_or(*count.value) - noise, to = count.high.value_or(*count.value) + noise;
    const bool is_same = std::max(low, from) <= std::min(high, to) && !values.empty();
    low = is_same ? std::max(low, from) : from;
    high = is_same ? std::min(high, to) : to;
    values.push_back(is_same ? values.back() : *count.value);
  }
  for (const std::size_t at : steps_of(values))
    series.changes.push_back(
        {.at = at, .before = static_cast<double>(values[at - 1]), .after = static_cast<double>(values[at])});
  series.patterns = patterns_of(values);
}

void find_changes(HistorySeries& series) {
  std::vector<double> values;
  for (const SeriesValue& series_value : series.values)
    values.push_back(static_cast<double>(*series_value.count->value));
  std::vector<std::size_t> bounds = change_points(values);
  bounds.insert(bounds.begin(), 0);
  bounds.push_back(values.size());
  const auto level = [&](std::size_t segment) {
    return upper_median({values.begin() + static_cast<std::ptrdiff_t>(bounds[segment]),
                         values.begin() + static_cast<std::ptrdiff_t>(bounds[segment + 1])});
  };
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i)
    series.changes.push_back({.at = bounds[i], .before = level(i - 1), .after = level(i)});
}

/// The settings of a result that decide a count: those of models only if it is modelled.
std::vector<Setting> deciding_settings(const result::HistoryEntry& entry, const result::HistoryCount& count) {
  std::vector<Setting> settings = entry.settings;
  if (count.trust != Trust::modelled)
    std::erase_if(settings, [](const Setting& setting) { return setting.is_of_models; });
  return settings;
}

/// The series of one name and event: what distinguishes them from each other.
void distinguish(const std::vector<HistorySeries*>& alike) {
  const auto differs = [&](auto value_of) {
    return std::any_of(alike.begin(), alike.end(), [&](const HistorySeries* history_series) {
      return value_of(*history_series) != value_of(*alike.front());
    });
  };
  const bool differ_in_processor = differs([](const HistorySeries& one) { return one.processor; });
  for (HistorySeries* const series : alike) {
    std::vector<std::string> words;
    for (const Setting& setting : series->settings)
      if (differs([&](const HistorySeries& other) {
            const auto found = std::find_if(other.settings.begin(), other.settings.end(),
                                            [&](const Setting& one) { return one.name == setting.name; });
            return found == other.settings.end() ? setting.value : found->value;
          }))
        words.push_back(fmt::format("{} {}", setting.name, printable(setting.value)));
    if (series->settings.empty() && differs([](const HistorySeries& one) { return one.settings.empty(); }))
      words.emplace_back("unknown settings");
    if (differ_in_processor && !series->processor.empty()) words.push_back(series->processor);
    series->distinction = join(words, ", ");
  }
}

void distinguish_all(std::vector<HistorySeries>& all) {
  std::map<std::pair<std::string, std::string>, std::vector<HistorySeries*>> alike;
  for (HistorySeries& series : all) alike[{series.name, series.event}].push_back(&series);
  for (const auto& [key, some] : alike)
    if (some.size() > 1) distinguish(some);
}

/// "--cpu-model (the real processor → haswell), backend (perf → engine)".
std::string changes_text(const std::vector<Setting>& before, const std::vector<Setting>& after) {
  if (before.empty() != after.empty()) return "unknown";
  std::vector<std::string> texts;
  for (const ChangedSetting& setting : changed_settings(before, after)) texts.push_back(setting.text);
  return join(texts, ", ");
}

}  // namespace

std::vector<HistorySeries> series_of(const result::History& history) {
  std::vector<HistorySeries> all;
  std::map<std::tuple<std::string, std::string, std::string, std::vector<Setting>>, std::size_t> places;
  std::map<std::pair<std::string, std::string>, std::size_t> last;  // the series of the last result with this event
  for (const result::HistoryEntry& entry : history.entries) {
    for (const result::HistoryCount& count : entry.counts) {
      if (!count.value) continue;
      const bool is_exact = count.trust == Trust::exact;
      const std::string processor = is_exact ? "" : entry.processor;
      const std::vector<Setting> settings = deciding_settings(entry, count);
      const auto [place, is_new] = places.try_emplace({entry.name, count.event, processor, settings}, all.size());
      const auto [before, is_first] = last.try_emplace({entry.name, count.event}, place->second);
      if (is_new)
        all.push_back({.name = entry.name,
                       .event = count.event,
                       .processor = processor,
                       .settings = settings,
                       .changed_settings = is_first ? "" : changes_text(all[before->second].settings, settings),
                       .unit = count.unit,
                       .is_exact = is_exact,
                       .values = {},
                       .changes = {}});
      before->second = place->second;
      HistorySeries& series = all[place->second];
      series.is_exact = series.is_exact && is_exact;
      series.values.push_back({&entry, &count});
    }
  }
  for (HistorySeries& series : all) series.is_exact ? find_steps(series) : find_changes(series);
  distinguish_all(all);
  return all;
}

std::vector<NewSettings> new_settings_of(const std::vector<HistorySeries>& all) {
  std::vector<NewSettings> some;
  for (const HistorySeries& series : all) {
    const result::HistoryEntry* const entry = series.values.front().entry;
    if (series.changed_settings.empty() || std::any_of(some.begin(), some.end(), [&](const NewSettings& new_settings) {
          return new_settings.entry == entry && new_settings.settings == series.changed_settings;
        }))
      continue;
    some.push_back({series.name, entry, series.changed_settings});
  }
  return some;
}

bool accepts(const HistorySeries& series, std::size_t at) {
  const std::string& reason = series.values[at].entry->accepted;
  return at > 0 && !reason.empty() && reason != series.values[at - 1].entry->accepted;
}

std::vector<AcceptedResult> accepted_results(const std::vector<HistorySeries>& all) {
  std::vector<AcceptedResult> some;
  for (const HistorySeries& series : all)
    for (std::size_t i = 0; i < series.values.size(); ++i)
      if (accepts(series, i) && std::ranges::find(some, series.values[i].entry, &AcceptedResult::entry) == some.end())
        some.push_back({series.name, series.values[i].entry});
  return some;
}

std::string series_name(const HistorySeries& series) {
  return series.distinction.empty() ? series.name : fmt::format("{} ({})", series.name, series.distinction);
}

std::string entry_text(const result::HistoryEntry& entry) {
  constexpr std::size_t digits = 12;
  if (!entry.provenance.commit.empty()) return entry.provenance.commit.substr(0, digits);
  return entry.provenance.label.empty() ? fmt::format("#{}", entry.number) : entry.provenance.label;
}

}  // namespace tally::results
