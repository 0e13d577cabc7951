#include "tally/output/result/regions_result.hpp"

#include <fmt/format.h>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::result {
namespace {

RegionEvent event(const Json& json) {
  RegionEvent one;
  one.event = split_event_name(json.at("event").get<std::string>());
  one.total.value = optional<std::int64_t>(json, "value");
  one.total.trust = one.total.value ? trust(json.at("trust")) : Trust::absent;
  one.total.reason = text(json, "reason");
  one.total.source = parse_source(text(json, "source"));
  if (json.contains("model")) one.total.model = text(json, "model");
  one.least = optional<std::int64_t>(json, "least");
  one.most = optional<std::int64_t>(json, "most");
  one.overhead = number<std::int64_t>(json.at("overhead"));
  one.overhead_percent = number<double>(json.at("overhead_percent"));
  one.uncertainty = number<std::int64_t>(json.at("uncertainty"));
  one.too_small = number<bool>(json.at("too_small"));
  if (json.contains("histogram") && !json["histogram"].is_null()) {
    for (const Json& bucket : json["histogram"]) {
      one.histogram.push_back({number<std::int64_t>(bucket.at("least")), number<std::int64_t>(bucket.at("most")),
                               number<std::uint64_t>(bucket.at("entries"))});
    }
  }
  return one;
}

RegionMetric metric(const Json& json) {
  RegionMetric one;
  one.name = json.at("metric").get<std::string>();
  one.formula = json.at("formula").get<std::string>();
  one.unit = text(json, "unit");
  one.row_event = split_event_name(text(json, "event"));
  one.per = split_event_name(text(json, "per"));
  one.asked = number<bool>(json.at("asked"));
  one.ratio.value = optional<double>(json, "value");
  one.ratio.trust = one.ratio.value ? trust(json.at("trust")) : Trust::absent;
  one.ratio.reason = text(json, "reason");
  one.ratio.model = text(json, "model");
  return one;
}

RegionCounts counts(const Json& json) {
  RegionCounts all;
  all.entries = number<std::uint64_t>(json.at("entries"));
  all.recursive = number<std::uint64_t>(json.at("recursive"));
  all.dropped = number<std::uint64_t>(json.at("dropped"));
  all.open = number<std::uint64_t>(json.at("open"));
  for (const Json& one : json.at("events")) all.events.push_back(event(one));
  // Files of earlier versions have none.
  if (json.contains("metrics")) {
    for (const Json& one : json["metrics"]) all.metrics.push_back(metric(one));
  }
  return all;
}

RegionResult region(const Json& json) {
  RegionResult one;
  one.name = json.at("region").get<std::string>();
  one.all = counts(json);
  for (const Json& thread : json.at("threads")) {
    one.threads.push_back({number<std::int32_t>(thread.at("tid")), counts(thread)});
  }
  return one;
}

}  // namespace

ProgramRegions program_regions(const Json& json) {
  ProgramRegions program;
  program.pid = number<std::int64_t>(json.at("pid"));
  program.command = json.at("command").get<std::vector<std::string>>();
  program.reason = text(json, "reason");
  program.rank = optional<std::int32_t>(json, "rank");
  for (const Json& one : json.at("regions")) {
    program.regions.push_back(region(one));
    for (const Json& thread : one.at("threads"))
      if (const auto openmp = optional<std::int32_t>(thread, "openmp_thread"))
        program.openmp_numbers[number<std::int32_t>(thread.at("tid"))] = *openmp;
  }
  return program;
}

bool is_regions(std::string_view text) {
  // The schema is always the first key.
  return trimmed(text.substr(0, 100)).starts_with('{') && text.substr(0, 200).find("\"tally-regions/") != text.npos;
}

Result<ProgramRegions> read_regions(std::string_view text) {
  try {
    const Json json = parse_json<Json>(text);
    if (json.at("schema") == "tally-regions/1") return program_regions(json);
    return fail(Code::bad_usage, fmt::format("its schema is {}", json_text(json["schema"])));
  } catch (const Json::exception& exception) {
    return fail(Code::bad_usage, parse_error_text(text, exception.what()));
  }
}

}  // namespace tally::result
