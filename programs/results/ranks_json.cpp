#include "programs/results/rank_sums.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::results {

std::string ranks_json(const RankSums& sums, const result::Provenance& provenance) {
  Json json = document("tally-ranks/1", provenance);
  json["ranks"] = sums.names;
  json["early_ends"] = Json::array();
  for (const EarlyEnd& end : sums.early_ends) json["early_ends"].push_back({{"rank", end.rank}, {"how", end.how}});
  json["rows"] = Json::array();
  for (const RankRow& row : sums.rows) {
    const bool any = row.ranks != 0;
    json["rows"].push_back({{sums.rows_of(), text_or_null(row.region)},
                            {"event", row.event.text()},
                            {"unit", unit_name(row.unit)},
                            {"ranks", row.ranks},
                            {"sum", value_or_null(row.sum.value)},
                            {"min", any ? Json(row.least) : Json(nullptr)},
                            {"min_rank", any ? Json(row.least_rank) : Json(nullptr)},
                            {"max", any ? Json(row.most) : Json(nullptr)},
                            {"max_rank", any ? Json(row.most_rank) : Json(nullptr)},
                            {"mean", any ? Json(row.mean) : Json(nullptr)},
                            {"imbalance", value_or_null(row.imbalance())},
                            {"trust", name(row.sum.trust)},
                            {"reason", text_or_null(row.sum.reason)}});
  }
  json["metrics"] = Json::array();
  for (const RankMetric& metric : sums.metrics) {
    const auto of_any = [&](const auto& value) { return metric.ranks != 0 ? Json(value) : Json(nullptr); };
    json["metrics"].push_back({{sums.rows_of(), text_or_null(metric.region)},
                               {"metric", metric.name},
                               {"formula", metric.formula},
                               {"unit", metric.unit},
                               {"ranks", metric.ranks},
                               {"of_sums", value_or_null(metric.of_sums.value)},
                               {"min", of_any(metric.least)},
                               {"min_rank", of_any(metric.least_rank)},
                               {"max", of_any(metric.most)},
                               {"max_rank", of_any(metric.most_rank)},
                               {"trust", name(metric.of_sums.trust)},
                               {"reason", text_or_null(metric.of_sums.reason)}});
  }
  return json_text(json, 1) + "\n";
}

}  // namespace tally::results
