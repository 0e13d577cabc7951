#include "tally/core/base/json_text.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

Json histogram_json(const RegionEvent& event) {
  if (event.histogram.empty()) return nullptr;
  Json json = Json::array();
  for (const RegionBucket& bucket : event.histogram)
    json.push_back({{"least", bucket.least}, {"most", bucket.most}, {"entries", bucket.entries}});
  return json;
}

Json event_json(const RegionEvent& event) {
  return {{"event", event.event.text()},
          {"value", value_or_null(event.total.value)},
          {"trust", name(event.total.trust)},
          {"reason", text_or_null(event.total.reason)},
          {"source", text_or_null(event.total.source.text())},
          {"model", text_or_null(event.total.model)},
          {"least", value_or_null(event.least)},
          {"most", value_or_null(event.most)},
          {"overhead", event.overhead},
          {"overhead_percent", event.overhead_percent},
          {"uncertainty", event.uncertainty},
          {"too_small", event.too_small},
          {"histogram", histogram_json(event)}};
}

void add_counts(Json& json, const RegionCounts& counts) {
  json["entries"] = counts.entries;
  json["recursive"] = counts.recursive;
  json["dropped"] = counts.dropped;
  json["open"] = counts.open;
  json["events"] = Json::array();
  for (const RegionEvent& event : counts.events) json["events"].push_back(event_json(event));
  json["metrics"] = Json::array();
  for (const RegionMetric& metric : counts.metrics) json["metrics"].push_back(metric_values(metric));
}

std::optional<std::int32_t> openmp_number(const result::ProgramRegions& program, std::int32_t thread) {
  const auto found = program.openmp_numbers.find(thread);
  return found == program.openmp_numbers.end() ? std::nullopt : std::optional(found->second);
}

Json region_json(const RegionResult& region, const result::ProgramRegions& program) {
  Json json{{"region", region.name}};
  add_counts(json, region.all);
  json["threads"] = Json::array();
  for (const RegionThread& region_thread : region.threads) {
    Json thread{{"tid", region_thread.thread},
                {"openmp_thread", value_or_null(openmp_number(program, region_thread.thread))}};
    add_counts(thread, region_thread.counts);
    json["threads"].push_back(std::move(thread));
  }
  return json;
}

}  // namespace

Json regions_object(const result::ProgramRegions& program) {
  Json json{{"pid", program.pid},
            {"rank", value_or_null(program.rank)},
            {"command", program.command},
            {"reason", text_or_null(program.reason)},
            {"regions", Json::array()}};
  for (const RegionResult& region : program.regions) json["regions"].push_back(region_json(region, program));
  return json;
}

std::string regions_json(const result::ProgramRegions& program) {
  Json json{{"schema", "tally-regions/1"}};
  json.update(regions_object(program));
  // Names and arguments may contain invalid UTF-8; JSON may not.
  return json_text(json, 2) + "\n";
}

}  // namespace tally::output
