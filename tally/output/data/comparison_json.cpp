// `tally compare --format json`: docs/reference/compare-json.md.
#include "tally/core/base/json_text.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

Json side_json(const Comparable& side) {
  return {{"command", side.command},
          {"runs", side.runs},
          {"provenance", provenance_json(side.environment.provenance)},
          {"environment", environment_json(side.environment)}};
}

/// A whole number of events, bytes or nanoseconds, or a fraction.
Json value_json(const std::optional<Value>& value, bool is_fraction) {
  if (!value) return nullptr;
  return is_fraction ? Json(static_cast<double>(*value)) : Json(static_cast<std::int64_t>(*value));
}

std::string unit_of(const ComparedCount& count) {
  return count.is_fraction ? count.fraction_unit : unit_name(count.unit);
}

Json count_json(const ComparedCount& count, const char* subject) {
  Json json;
  json["event"] = count.event;
  if (!count.subject.empty()) json[subject] = count.subject;
  json["unit"] = text_or_null(unit_of(count));
  json["before"] = value_json(count.before, count.is_fraction);
  json["after"] = value_json(count.after, count.is_fraction);
  json["change"] = count.before && count.after ? value_json(count.change(), count.is_fraction) : Json(nullptr);
  json["relative_change"] = value_or_null(count.relative_change());
  json["interval"] = count.interval
                         ? Json{static_cast<double>(count.interval->low), static_cast<double>(count.interval->high)}
                         : Json(nullptr);
  json["trust"] = count.trust;
  json["probability"] = value_or_null(count.probability);
  json["verdict"] = name(count.verdict);
  json["reason"] = text_or_null(count.reason);
  if (!count.label.empty()) json["cause"] = count.label;
  return json;
}

}  // namespace

std::string comparison_json(const JudgedComparison& judged, const ComparisonStyle&) {
  Json json = document("tally-comparison/1", judged.provenance);
  json["before"] = side_json(*judged.comparison.before);
  json["after"] = side_json(*judged.comparison.after);
  json["verdict"] = judged.verdict();
  for (const char* const key : {"events", "metrics", "functions", "lines", "objects", "processes", "threads"})
    json[key] = Json::array();
  for (const ComparedCount& row : judged.comparison.counts)
    json[row.is_metric ? "metrics" : "events"].push_back(count_json(row, "of"));
  for (const auto& [key, rows] : {std::pair{"functions", ComparedRows::functions},
                                  {"lines", ComparedRows::lines},
                                  {"objects", ComparedRows::objects},
                                  {"processes", ComparedRows::processes},
                                  {"threads", ComparedRows::threads}})
    for (const ComparedCount& row : judged.comparison.rows(rows))
      json[key].push_back(count_json(row, std::string(name(rows)).c_str()));
  json["gates"] = Json::array();
  for (const GateResult& gate : judged.gates)
    json["gates"].push_back(
        {{"gate", gate.gate.text}, {"hard", gate.gate.is_hard}, {"state", name(gate.state)}, {"text", gate.text}});
  json["warnings"] = judged.comparison.warnings;
  return json_text(json, 1) + "\n";
}

}  // namespace tally::output
