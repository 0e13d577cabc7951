// `tally bench --format json`: docs/reference/bench.md.
#include "programs/results/bench_runner.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/output/kit/json_values.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::results {
namespace {

using output::Json, output::text_or_null;

Json number(const std::optional<output::Value>& value, bool is_fraction) {
  if (!value) return nullptr;
  return is_fraction ? Json(static_cast<double>(*value)) : Json(static_cast<std::int64_t>(*value));
}

Json row_json(const BenchOutcome::Row& row) {
  Json json{{"count", text_or_null(row.event)}, {"limit", text_or_null(row.limit)}, {"verdict", row.verdict}};
  if (!row.count) return json;
  json["before"] = number(row.count->before, row.count->is_fraction);
  json["after"] = number(row.count->after, row.count->is_fraction);
  json["relative_change"] = output::value_or_null(row.count->relative_change());
  json["trust"] = text_or_null(row.count->trust);
  return json;
}

}  // namespace

std::string bench_json(const std::vector<BenchOutcome>& outcomes, const std::vector<std::string>& missing, int code) {
  Json json = output::document("tally-bench/1", command::provenance());
  json["exit_code"] = code;
  json["benchmarks"] = Json::array();
  for (const BenchOutcome& outcome : outcomes) {
    Json rows = Json::array();
    for (const BenchOutcome::Row& row : outcome.rows) rows.push_back(row_json(row));
    json["benchmarks"].push_back({{"name", outcome.benchmark->name},
                                  {"has_run", outcome.has_run},
                                  {"rows", std::move(rows)},
                                  {"reason", text_or_null(outcome.text)},
                                  {"growth", text_or_null(outcome.growth)}});
  }
  json["missing"] = missing;
  return json_text(json, 1) + "\n";
}

}  // namespace tally::results
