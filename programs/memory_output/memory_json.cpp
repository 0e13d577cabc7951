#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "programs/memory_output/memory_format.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/output/kit/json_document.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

Json counts_json(const result::Memory& memory, const std::vector<double>& counted) {
  Json counts;
  for (const auto& count : result::memory_counts) {
    if (const auto value = memory.count_of(counted, count.name)) counts[std::string(count.name)] = *value;
  }
  return counts;
}

Json counter_json(const result::MemoryCounter& counter) {
  const char* const counted = counter.doubt.empty() ? "counted" : "partial";
  return {{"name", counter.name},
          {"event", counter.event},
          {"trust", counter.reason.empty() ? counted : "absent"},
          {"source", text_or_null(counter.source)},
          {"reason", text_or_null(counter.reason.empty() ? counter.doubt : counter.reason)}};
}

Json point_json(const result::Memory& memory, const result::MemoryPoint& point) {
  return {{"task", point.task},
          {"quantity", point.quantity},
          {"mode", point.mode},
          {"order", point.order},
          {"region_bytes", point.region_bytes},
          {"block_bytes", point.block_bytes},
          {"stride_bytes", point.stride_bytes},
          {"n", point.count},
          {"regions", point.regions},
          {"laps", point.laps > 0 ? Json(point.laps) : Json(nullptr)},
          {"pages_asked", point.pages_asked},
          {"pages_got", text_or_null(point.pages_got)},
          {"node", value_or_null(point.node)},
          {"threads", point.threads},
          {"store", text_or_null(point.store)},
          {"load", text_or_null(point.load)},
          {"fence", text_or_null(point.fence)},
          {"seed", point.seed},
          {"mappings", point.mappings},
          {"mappings_kept", value_or_null(point.mappings_kept)},
          {"from_memory", value_or_null(point.from_memory)},
          {"batches", point.batches},
          {"rejected", point.rejected},
          {"ns", value_or_null(point.ns)},
          {"ns_min", value_or_null(point.ns_min)},
          {"ns_low", value_or_null(point.ns_low)},
          {"ns_high", value_or_null(point.ns_high)},
          {"cycles", value_or_null(point.cycles)},
          {"mb_per_second", value_or_null(point.mb_per_second)},
          {"flags", point.flags},
          {"counts", counts_json(memory, point.counts)}};
}

Json level_json(const result::Memory& memory, const result::MemoryLevel& level) {
  return {{"name", level.name},
          {"capacity_bytes", value_or_null(level.capacity_bytes)},
          {"capacity_low_bytes", value_or_null(level.capacity_low)},
          {"capacity_high_bytes", value_or_null(level.capacity_high)},
          {"reported_bytes", value_or_null(level.reported_bytes)},
          {"snapped", level.snapped},
          {"effective", level.effective},
          {"rise", text_or_null(level.shape)},
          {"half_rise_bytes", value_or_null(level.half_bytes)},
          {"knee_bytes", value_or_null(level.knee_bytes)},
          {"contended", level.contended},
          {"seen", !level.unseen},
          {"ns", level.ns > 0 ? Json(level.ns) : Json()},
          {"ns_low", value_or_null(level.ns_low)},
          {"ns_high", value_or_null(level.ns_high)},
          {"cycles", value_or_null(level.cycles)},
          {"line_bytes", value_or_null(level.line_bytes)},
          {"ways", value_or_null(level.ways)},
          {"sets", value_or_null(level.sets)},
          {"counts", counts_json(memory, level.counts)},
          {"grade", name(level.grade)},
          {"because", level.because}};
}

Json tlb_json(const result::MemoryTlb& tlb) {
  return {{"name", tlb.name},
          {"seen", !tlb.unseen},
          {"entries", tlb.unseen ? Json() : Json(tlb.entries)},
          {"ways", value_or_null(tlb.ways)},
          {"sets", value_or_null(tlb.sets)},
          {"granule_bytes", tlb.granule_bytes},
          {"penalty_ns", tlb.unseen ? Json() : Json(tlb.penalty_ns)},
          {"grade", name(tlb.grade)},
          {"because", text_or_null(tlb.because)}};
}

Json histogram_json(const result::MemoryHistogram& histogram) {
  Json bins = Json::array();
  for (const auto& bin : histogram.bins) bins.push_back({bin.low, bin.high, bin.count});
  return {{"name", histogram.name}, {"group", histogram.group}, {"unit", histogram.unit}, {"bins", bins}};
}

Json map_json(const result::MemoryMap& map) {
  Json cells = Json::array();
  for (const auto& cell : map.cells) cells.push_back({cell.x, cell.y, cell.value});
  return {{"name", map.name},           {"x", map.x_name},  {"y", map.y_name}, {"x_is_size", map.x_is_size},
          {"y_is_size", map.y_is_size}, {"unit", map.unit}, {"cells", cells}};
}

Json ratio_json(const result::MemoryRatio& ratio) {
  return {{"name", ratio.name},       {"region_bytes", ratio.region_bytes},  {"block_bytes", ratio.block_bytes},
          {"value", ratio.value},     {"low", value_or_null(ratio.low)},     {"high", value_or_null(ratio.high)},
          {"verdict", ratio.verdict}, {"reason", text_or_null(ratio.reason)}};
}

Json memory_environment(const result::Environment& environment) {
  Json json = environment_json(environment);
  for (const char* const key : {"perf_event_paranoid", "pmus", "tally"}) json.erase(key);
  json["tally_version"] = environment.tally_version;
  return json;
}

Json verdict_json(const result::MemoryVerdict& verdict) {
  return {{"contended", verdict.contended},
          {"points", verdict.points},
          {"flagged", verdict.flagged},
          {"rejected_percent", verdict.rejected_percent},
          {"reference_moved_percent", verdict.reference_moved_percent},
          {"why", text_or_null(verdict.text)},
          {"cause", text_or_null(verdict.cause)},
          {"advice", text_or_null(verdict.advice)}};
}

template <class List, class Write>
Json array_of(const List& list, Write write) {
  Json array = Json::array();
  for (const auto& entry : list) array.push_back(write(entry));
  return array;
}

}  // namespace

std::string memory_json(const result::Memory& memory) {
  Json json = document("tally-memory/1", memory.environment.provenance);
  json["task"] = memory.task;
  json["complete"] = memory.complete;
  json["environment"] = memory_environment(memory.environment);
  json["settings"] = Json::object();
  for (const auto& [key, value] : memory.settings) json["settings"][key] = value;
  json["ticks_per_ns"] = value_or_null(memory.ticks_per_ns);
  json["verdict"] = verdict_json(memory.verdict);
  json["levels"] = array_of(memory.levels, [&](const result::MemoryLevel& level) { return level_json(memory, level); });
  json["tlbs"] = array_of(memory.tlbs, tlb_json);
  json["controls"] = array_of(memory.controls, [](const result::MemoryControl& control) {
    return Json{{"name", control.name}, {"value", value_or_null(control.number)}, {"unit", text_or_null(control.unit)}};
  });
  json["histograms"] = array_of(memory.histograms, histogram_json);
  json["maps"] = array_of(memory.maps, map_json);
  json["ratios"] = array_of(memory.ratios, ratio_json);
  json["figures"] = Json::object();
  for (const auto& [key, value] : memory.statistics) json["figures"][key] = value;
  json["findings"] = memory.findings;
  add_ceilings(json, memory.ceilings);
  json["counters"] = {{"events", memory.counters.empty() ? Json(nullptr) : array_of(memory.counters, counter_json)},
                      {"reason", text_or_null(memory.counters_reason)}};
  json["points"] = array_of(memory.points, [&](const result::MemoryPoint& point) { return point_json(memory, point); });
  json["notices"] = memory.notices;
  return json_text(json, 2) + "\n";
}

}  // namespace tally::output
