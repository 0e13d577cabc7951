// `tally history` for programs: its own JSON, and the formats of two dashboards.
#include <fmt/format.h>

#include <iterator>
#include <map>

#include "programs/results/history_format.hpp"
#include "programs/results/history_series.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::results {
namespace {

Json relative_change(double before, double after) {
  return before == 0 ? Json(nullptr) : Json((after - before) / before);
}

Json pattern_json(const HistorySeries& series, const SeriesPattern& pattern) {
  return {
      {"pattern", name(pattern.pattern)},
      {"result", series.values[pattern.first].entry->number},
      {"last_result", series.values[pattern.last].entry->number},
      {"steps", pattern.steps},
      {"before", pattern.before},
      {"after", pattern.after},
      {"relative_change", relative_change(static_cast<double>(pattern.before), static_cast<double>(pattern.after))}};
}

Json value_json(const SeriesValue& value) {
  return {{"result", value.entry->number},
          {"processor", text_or_null(value.entry->processor)},
          {"provenance", provenance_json(value.entry->provenance)},
          {"value", value_or_null(value.count->value)},
          {"low", value_or_null(value.count->low)},
          {"high", value_or_null(value.count->high)},
          {"trust", name(value.count->trust)},
          {"accepted", text_or_null(value.entry->accepted)}};
}

Json settings_json(const std::vector<result::Setting>& settings) {
  if (settings.empty()) return nullptr;
  Json json = Json::object();
  for (const result::Setting& setting : settings) json[setting.name] = setting.value;
  return json;
}

std::string extra_text(const result::HistoryEntry& entry) {
  std::string text = entry.provenance.date;
  for (const std::string& word : {entry.provenance.label, entry.processor})
    if (!word.empty()) text += ", " + word;
  return text;
}

// The input of github-action-benchmark with the tool customSmallerIsBetter: the last value of each series.
}  // namespace

std::string history_json(const result::History& history, const result::Provenance& provenance, std::size_t) {
  Json json = document("tally-history/1", provenance);
  json["series"] = Json::array();
  for (const HistorySeries& series : series_of(history)) {
    Json one{{"name", series.name},
             {"event", series.event},
             {"processor", text_or_null(series.processor)},
             {"settings", settings_json(series.settings)},
             {"unit", unit_name(series.unit)}};
    one["values"] = Json::array();
    for (const SeriesValue& value : series.values) one["values"].push_back(value_json(value));
    one["changes"] = Json::array();
    for (const SeriesChange& change : series.changes)
      one["changes"].push_back({{"result", series.values[change.at].entry->number},
                                {"before", change.before},
                                {"after", change.after},
                                {"relative_change", relative_change(change.before, change.after)}});
    one["patterns"] = Json::array();
    for (const SeriesPattern& pattern : series.patterns) one["patterns"].push_back(pattern_json(series, pattern));
    json["series"].push_back(std::move(one));
  }
  return json_text(json, 1) + "\n";
}

std::string benchmark_action_json(const result::History& history, const result::Provenance&, std::size_t) {
  Json json = Json::array();
  for (const HistorySeries& series : series_of(history)) {
    const auto& [entry, count] = series.values.back();
    Json one{{"name", series_name(series) + ": " + series.event},
             {"unit", unit_name(series.unit)},
             {"value", *count->value}};
    if (count->low && count->high) one["range"] = fmt::format("{} - {}", *count->low, *count->high);
    one["extra"] = extra_text(*entry);
    json.push_back(std::move(one));
  }
  return json_text(json, 1) + "\n";
}

// Bencher Metric Format: benchmark, measure, value with bounds.
std::string bencher_json(const result::History& history, const result::Provenance&, std::size_t) {
  Json json = Json::object();
  for (const HistorySeries& series : series_of(history)) {
    const result::HistoryCount& count = *series.values.back().count;
    Json& one = json[series_name(series)][series.event];
    one["value"] = *count.value;
    if (count.low && count.high) {
      one["lower_value"] = *count.low;
      one["upper_value"] = *count.high;
    }
  }
  return json_text(json, 1) + "\n";
}

}  // namespace tally::results
