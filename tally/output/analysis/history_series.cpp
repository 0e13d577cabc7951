#include "tally/output/analysis/history_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tally/output/analysis/change_points.hpp"

namespace tally::report {
namespace {

void find_steps(HistorySeries& series) {
  std::vector<std::int64_t> values;
  for (const SeriesValue& one : series.values) values.push_back(*one.count->value);
  for (const std::size_t at : steps_of(values))
    series.changes.push_back(
        {.at = at, .before = static_cast<double>(values[at - 1]), .after = static_cast<double>(values[at])});
  series.patterns = patterns_of(values);
}

void find_changes(HistorySeries& series) {
  std::vector<double> values;
  for (const SeriesValue& one : series.values) values.push_back(static_cast<double>(*one.count->value));
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

}  // namespace

std::vector<HistorySeries> series_of(const result::History& history) {
  std::vector<HistorySeries> all;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  for (const result::HistoryEntry& entry : history.entries) {
    for (const result::HistoryCount& count : entry.counts) {
      if (!count.value) continue;
      const bool is_exact = count.trust == Trust::exact;
      const std::string processor = is_exact ? "" : entry.processor;
      const auto [place, is_new] = places.try_emplace({entry.name, count.event, processor}, all.size());
      if (is_new)
        all.push_back({.name = entry.name,
                       .event = count.event,
                       .processor = processor,
                       .unit = count.unit,
                       .is_exact = is_exact,
                       .values = {},
                       .changes = {}});
      HistorySeries& series = all[place->second];
      series.is_exact = series.is_exact && is_exact;
      series.values.push_back({&entry, &count});
    }
  }
  for (HistorySeries& series : all) series.is_exact ? find_steps(series) : find_changes(series);
  return all;
}

std::string entry_text(const result::HistoryEntry& entry) {
  constexpr std::size_t digits = 12;
  if (!entry.provenance.commit.empty()) return entry.provenance.commit.substr(0, digits);
  return entry.provenance.label.empty() ? fmt::format("#{}", entry.number) : entry.provenance.label;
}

}  // namespace tally::report
