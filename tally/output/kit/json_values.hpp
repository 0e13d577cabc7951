// Common parts of the JSON formats.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tally/core/base/unit_names.hpp"
#include "tally/output/kit/json_document.hpp"
#include "tally/output/result/ceilings.hpp"
#include "tally/output/result/regions_result.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::output {

inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// The object `environment` of docs/reference/stat-json.md.
inline Json environment_json(const result::Environment& environment) {
  return {{"cpu", text_or_null(environment.cpu)},
          {"architecture", text_or_null(environment.architecture)},
          {"kernel", text_or_null(environment.kernel)},
          {"microcode", text_or_null(environment.microcode)},
          {"hypervisor", value_or_null(environment.hypervisor)},
          {"perf_event_paranoid", value_or_null(environment.perf_event_paranoid)},
          {"governor", text_or_null(environment.governor)},
          {"pmus", environment.pmus},
          {"tally", environment.tally_version}};
}

/// Adds what programs saw of the machine, and the simulated machine. `measured`: a result::Stat or WindowsHead.
template <class Measured>
void add_models(Json& json, const Measured& measured) {
  if (!measured.machine_model.empty()) json["machine_model"] = measured.machine_model;
  if (!measured.clock.empty()) json["clock"] = measured.clock;
  if (!measured.program_environment.empty()) json["program_environment"] = measured.program_environment;
  if (!measured.cpu_model.empty()) json["cpu_model"] = measured.cpu_model;
}

/// Adds what programs executed without asking the processor that they saw.
inline void add_unasked(Json& json, const result::Stat& stat) {
  if (stat.cpu_model.empty()) return;
  json["unasked"] = Json::array();
  for (const result::UnaskedCode& one : stat.unasked)
    json["unasked"].push_back({{"feature", one.feature},
                               {"instruction", one.instruction},
                               {"file", one.file},
                               {"address", one.address},
                               {"function", one.function},
                               {"count", one.count}});
}

/// Adds the mix of instructions, if it was requested.
inline void add_mix(Json& json, const std::optional<result::InstructionMix>& mix) {
  if (!mix) return;
  const auto list = [](const std::vector<result::InstructionMix::Share>& shares) {
    Json all = Json::array();
    for (const auto& share : shares) all.push_back({{"name", share.name}, {"count", share.count}});
    return all;
  };
  json["mix"] = {{"instructions", mix->instructions},
                 {"unknown", mix->unknown},
                 {"vector", mix->vector},
                 {"fp", mix->fp},
                 {"fp_vector", mix->fp_vector},
                 {"categories", list(mix->categories)},
                 {"widths", list(mix->widths)},
                 {"names", list(mix->names)},
                 {"loads", list(mix->loads)},
                 {"stores", list(mix->stores)}};
}

/// Adds the ceilings of a machine, if there are any.
inline void add_ceilings(Json& json, const result::Ceilings& ceilings) {
  if (ceilings.bandwidths.empty() && ceilings.peaks.empty()) return;
  const auto list = [](const std::vector<result::Ceiling>& some) {
    Json all = Json::array();
    for (const result::Ceiling& row : some)
      all.push_back({{"of", row.of},
                     {"bits", row.bits},
                     {"processors", row.processors},
                     {"per_second", row.per_second},
                     {"spread_percent", row.spread_percent}});
    return all;
  };
  json["ceilings"] = {{"date", text_or_null(ceilings.date)},
                      {"bandwidths", list(ceilings.bandwidths)},
                      {"peaks", list(ceilings.peaks)},
                      {"rejected_percent", ceilings.rejected_percent}};
}

/// Adds a roofline, if it was requested. `verdict`: adds what follows from a point to its object.
template <class Verdict>
void add_roofline(Json& json, const std::optional<result::Roofline>& roofline, Verdict verdict) {
  if (!roofline) return;
  Json object;
  add_ceilings(object, roofline->ceilings);
  object["busy_processors"] = roofline->busy_processors;
  object["model"] = text_or_null(roofline->model);
  object["notes"] = roofline->notes;
  object["points"] = Json::array();
  for (const result::RooflinePoint& point : roofline->points) {
    Json levels = Json::array();
    for (const result::LevelBytes& level : point.levels)
      levels.push_back({{"level", level.level}, {"bytes", level.bytes}});
    Json row{{"kind", point.kind},
             {"name", point.name},
             {"trust", std::string(name(point.trust))},
             {"operations", point.operations},
             {"single", point.single},
             {"half", point.half},
             {"bf16", point.bf16},
             {"x87", point.x87},
             {"scalar", point.scalar},
             {"kernel_share", value_or_null(point.kernel_share)},
             {"busy_processors", value_or_null(point.busy_processors)},
             {"bytes", point.bytes},
             {"levels", std::move(levels)},
             {"seconds", value_or_null(point.seconds)},
             {"seconds_low", value_or_null(point.seconds_low)},
             {"seconds_high", value_or_null(point.seconds_high)},
             {"reason", text_or_null(point.reason)}};
    verdict(row, *roofline, point);
    object["points"].push_back(std::move(row));
  }
  json["roofline"] = std::move(object);
}

inline Json function_json(const result::CodeFunction& code) {
  if (code.file.empty()) return nullptr;
  return {{"file", code.file},
          {"function", code.function.empty() ? Json(nullptr) : Json(code.function)},
          {"offset", code.offset}};
}

/// Adds the list `nondeterminism` of docs/reference/stat-json.md, if there is one.
inline void add_sources(Json& json, const std::optional<std::vector<result::ReadSource>>& sources) {
  if (!sources) return;
  Json list = Json::array();
  for (const result::ReadSource& one : *sources)
    list.push_back({{"source", one.source},
                    {"count", one.count},
                    {"program", one.program},
                    {"first", function_json(one.first)},
                    {"caller", function_json(one.caller)},
                    {"answer", one.answer.empty() ? Json(nullptr) : Json(one.answer)}});
  json["nondeterminism"] = std::move(list);
}

/// A metric of a command or of a region: their common keys.
template <class Metric>
Json metric_values(const Metric& metric) {
  return {{"metric", metric.name},
          {"formula", metric.formula},
          {"unit", text_or_null(metric.unit)},
          {"event", text_or_null(metric.row_event.text())},
          {"per", text_or_null(metric.per.text())},
          {"asked", metric.asked},
          {"value", value_or_null(metric.ratio.value)},
          {"trust", name(metric.ratio.trust)},
          {"reason", text_or_null(metric.ratio.reason)},
          {"model", text_or_null(metric.ratio.model)}};
}

/// The keys `pid`, `command` and `regions` of docs/reference/regions-json.md.
Json regions_object(const result::ProgramRegions& program);

}  // namespace tally::output
