// `tally compare --format json`: docs/reference/compare-json.md.
#include "tally/core/base/json_text.hpp"
#include "tally/output/formats/comparison.hpp"
#include "tally/output/formats/json_values.hpp"

namespace tally::report {
namespace {

Json side_json(const result::Stat& stat) {
  return {{"command", stat.command}, {"runs", stat.runs.size()}, {"environment", environment_json(stat.environment)}};
}

Json count_json(const ComparedCount& count) {
  Json json;
  json["event"] = count.event;
  if (!count.function.empty()) json["function"] = count.function;
  json["before"] = value_or_null(count.before);
  json["after"] = value_or_null(count.after);
  json["change"] = count.before && count.after ? Json(count.change()) : Json(nullptr);
  json["relative_change"] = value_or_null(count.relative_change());
  json["interval"] = count.difference ? Json{count.difference->low, count.difference->high} : Json(nullptr);
  json["trust"] = count.trust;
  json["probability"] = value_or_null(count.probability);
  json["verdict"] = name(count.verdict);
  json["reason"] = text_or_null(count.reason);
  return json;
}

}  // namespace

std::string comparison_json(const JudgedComparison& judged, const ComparisonStyle&) {
  Json json;
  json["schema"] = "tally-comparison/1";
  json["before"] = side_json(*judged.comparison.before);
  json["after"] = side_json(*judged.comparison.after);
  json["verdict"] = judged.verdict();
  for (const auto& [key, rows] :
       {std::pair{"events", &judged.comparison.counts}, {"functions", &judged.comparison.functions}}) {
    json[key] = Json::array();
    for (const ComparedCount& row : *rows) json[key].push_back(count_json(row));
  }
  json["gates"] = Json::array();
  for (const GateResult& gate : judged.gates)
    json["gates"].push_back(
        {{"gate", gate.gate.text}, {"hard", gate.gate.is_hard}, {"state", name(gate.state)}, {"text", gate.text}});
  json["warnings"] = judged.comparison.warnings;
  return json_text(json, 1) + "\n";
}

}  // namespace tally::report
