// The page of a history: a chart of each series with its changes, and the commits.
#include "programs/results/history_page.hpp"

#include <fmt/format.h>

#include "programs/results/history_series.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/html/chart.hpp"
#include "tally/output/html/page_frame.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/provenance_line.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::results {
namespace {

std::string count_with_unit(const HistorySeries& series, const SeriesValue& value) {
  return value_text(*value.count->value, series.unit);
}

std::string chart_unit(Unit unit) {
  return unit == Unit::bytes ? "bytes" : unit == Unit::nanoseconds ? "ns" : unit == Unit::nanojoules ? "nJ" : "";
}

std::string chart_of(const HistorySeries& series) {
  Chart chart;
  chart.title = series_name(series) + ": " + series.event;
  chart.caption = series.processor;
  chart.x = {.label = "result"};
  chart.y = {.label = series.event, .unit = chart_unit(series.unit)};
  ChartSeries line{.name = series.event};
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const SeriesValue& value = series.values[i];
    ChartPoint point{.x = static_cast<double>(i + 1),
                     .y = static_cast<double>(*value.count->value),
                     .note = provenance_line(value.entry->provenance)};
    if (value.count->low && value.count->high) {
      point.low = static_cast<double>(*value.count->low);
      point.high = static_cast<double>(*value.count->high);
    }
    line.points.push_back(std::move(point));
  }
  chart.series.push_back(std::move(line));
  for (const SeriesChange& change : series.changes) chart.marks.push_back({.at = static_cast<double>(change.at) + 0.5});
  return figure(chart);
}

std::string changes_table(const std::vector<HistorySeries>& all) {
  HtmlTable table({"name", "event", "since", "date", "label", "#before", "#after", "#change"});
  for (const HistorySeries& series : all)
    for (const SeriesChange& change : series.changes) {
      const result::HistoryEntry& entry = *series.values[change.at].entry;
      table.add({series_name(series), series.event, entry_text(entry), entry.provenance.date, entry.provenance.label,
                 value_text(static_cast<std::int64_t>(change.before), series.unit),
                 value_text(static_cast<std::int64_t>(change.after), series.unit),
                 percent_change(change.before, change.after)});
    }
  return table.empty() ? element("p", "No change was found.") : element("h3", "Changes") + table.html();
}

std::string new_settings_table(const std::vector<HistorySeries>& all) {
  HtmlTable table({"name", "since", "date", "settings that changed"});
  for (const NewSettings& new_settings : new_settings_of(all))
    table.add({new_settings.name, entry_text(*new_settings.entry), new_settings.entry->provenance.date,
               new_settings.settings});
  return table.empty() ? "" : element("h3", "New series, counted with other settings") + table.html();
}

std::string accepted_table(const std::vector<HistorySeries>& all) {
  HtmlTable table({"name", "since", "date", "reason"});
  for (const AcceptedResult& step : accepted_results(all))
    table.add({step.name, entry_text(*step.entry), step.entry->provenance.date, step.entry->accepted});
  return table.empty() ? "" : element("h3", "Accepted: limits of growth begin there") + table.html();
}

std::string patterns_table(const std::vector<HistorySeries>& all) {
  HtmlTable table({"name", "event", "pattern", "#steps", "since", "until", "#before", "#after", "#change"});
  for (const HistorySeries& series : all)
    for (const SeriesPattern& pattern : series.patterns)
      table.add({series_name(series), series.event, std::string(name(pattern.pattern)), std::to_string(pattern.steps),
                 entry_text(*series.values[pattern.first].entry), entry_text(*series.values[pattern.last].entry),
                 value_text(pattern.before, series.unit), value_text(pattern.after, series.unit),
                 percent_change(static_cast<double>(pattern.before), static_cast<double>(pattern.after))});
  return table.empty() ? "" : element("h3", "Patterns") + table.html();
}

std::string values_table(const HistorySeries& series) {
  HtmlTable table({"#result", "date", "commit", "label", "host", "processor", "#count", "trust"});
  for (std::size_t i = series.values.size(); i-- > 0;) {
    const SeriesValue& value = series.values[i];
    const result::Provenance& from = value.entry->provenance;
    table.add({std::to_string(i + 1), from.date, from.commit.substr(0, 12), from.label, from.host,
               value.entry->processor, count_with_unit(series, value), std::string(name(value.count->trust))});
  }
  return folded("Results and commits", table.html());
}

}  // namespace

std::string history_html(const result::History& history) {
  const std::string title = fmt::format("History: {} results", history.entries.size());
  const std::vector<HistorySeries> all = series_of(history);
  std::string body =
      element("h1", title) + new_settings_table(all) + changes_table(all) + accepted_table(all) + patterns_table(all);
  for (const HistorySeries& series : all)
    body += element("h2", series_name(series) + ": " + series.event) + chart_of(series) + values_table(series);
  return page_of(title, body, {});
}

}  // namespace tally::results
