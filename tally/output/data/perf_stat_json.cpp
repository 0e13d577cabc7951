// The output of `perf stat -j`: one object for each event, each in a line (perf-stat(1), "JSON FORMAT").
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tally/core/base/json_text.hpp"
#include "tally/output/data/perf_values.hpp"
#include "tally/output/kinds/intervals.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/metric_text.hpp"

namespace tally::output {
namespace {

using Json = nlohmann::ordered_json;

/// perf writes counts with six decimal places.
std::string with_places(std::string value) {
  const bool is_integer = value.find_first_not_of("-0123456789") == std::string::npos;
  return is_integer ? value + ".000000" : value;
}

Json object_of(const result::Stat& stat, const result::Event& row) {
  const Count& count = row.total.count;
  Json json{{"counter-value", with_places(perf_value(row.total))},
            {"unit", perf_unit(row.total)},
            {"event", perf_name(row.total)}};
  if (const auto spread = row.summary ? spread_percent(*row.summary) : std::nullopt) json["variance"] = *spread;
  if (count.reading) json["event-runtime"] = count.reading->time_running.count();
  json["pcnt-running"] = running_percent(count).value_or(count.value ? 100 : 0);
  if (const result::Metric* const metric = metric_in_row(stat, row.total.name); metric && metric->ratio.value) {
    const bool is_share = metric->unit == "share";
    json["metric-value"] = *metric->ratio.value * (is_share ? 100 : 1);
    json["metric-unit"] = metric->per.empty() ? metric->name + (is_share ? " (%)" : "") : relation(*metric);
  }
  // Keys of tally, which perf does not have.
  json["trust"] = name(count.trust);
  if (!count.reason.empty()) json["reason"] = count.reason;
  return json;
}

}  // namespace

std::string interval_perf_json(const result::Interval& interval, const Style& /*style*/) {
  static const result::Stat none;
  std::string text;
  for (const result::EventCount& count : interval.counts) {
    Json json{{"interval", static_cast<double>(interval.end.count()) / 1e9}};
    json.update(object_of(none, {count, std::nullopt}));
    text += json_text(json) + "\n";
  }
  return text;
}

Result<std::string> perf_json(const result::Stat& stat, const Style& style) {
  if (style.per_process || style.per_thread)
    return fail(Code::bad_usage, "-j cannot represent processes and threads", "use `--format json`");
  std::string text;
  if (style.intervals)
    for (const result::Run& run : stat.runs)
      for (const result::Interval& interval : run.intervals) text += interval_perf_json(interval, style);
  for (const result::Event& row : stat.events) text += json_text(object_of(stat, row)) + "\n";
  return text;
}

}  // namespace tally::output
