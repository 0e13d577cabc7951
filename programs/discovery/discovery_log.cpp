#include "programs/discovery/discovery_log.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tally/core/base/json_problem.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::discover {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* schema = "tally-discover/2";

Json composition_json(const result::Composition& of) {
  Json json = Json::object();
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] != 0) json[std::string(result::coordinate_names[i])] = of[i];
  }
  return json;
}

Facts facts_of(const Json& json) {
  Facts facts;
  facts.name = json.at("name").get<std::string>();
  facts.control = json.at("control").get<std::string>();
  facts.target = json.at("target").get<std::string>();
  facts.known = json.at("known").get<bool>();
  facts.code = json.value("code", "");
  for (const auto& [name, times] : json.at("composition").items()) {
    if (const auto place = result::coordinate_of(name)) facts.composition[*place] = times.get<double>();
  }
  return facts;
}

Record header_of(const Json& json) {
  Record record;
  record.backend = json.at("backend").get<std::string>();
  record.seed = result::number<std::uint64_t>(json.at("seed"));
  record.counters = result::number<int>(json.at("counters"));
  record.used = json.value("used", std::vector<int>{});
  if (json.contains("processor")) record.processor = result::number<int>(json.at("processor"));
  for (const Json& one : json.at("events")) record.events.push_back(result::number<std::uint64_t>(one));
  for (const Json& one : json.at("sizes")) record.sizes.push_back(result::number<std::uint64_t>(one));
  record.repeats = result::number<int>(json.at("repeats"));
  for (const Json& one : json.at("payloads")) record.payloads.push_back(facts_of(one));
  return record;
}

Run run_of(const Json& json, const Record& record) {
  Run run;
  run.stage = json.at("stage").get<std::string>() == "slopes" ? Run::Stage::slopes : Run::Stage::screen;
  run.payload = result::number<std::size_t>(json.at("payload"));
  run.size = result::number<std::size_t>(json.at("size"));
  run.repeat = result::number<int>(json.at("repeat"));
  run.batch = result::number<std::size_t>(json.at("batch"));
  run.instructions = result::number<std::int64_t>(json.at("instructions"));
  run.cycles = result::number<std::int64_t>(json.at("cycles"));
  run.time_ms = json.at("time_ms").get<double>();
  run.interrupts = result::number<std::int64_t>(json.at("interrupts"));
  run.running = json.at("running").get<double>();
  run.rewritten = json.at("rewritten").get<bool>();
  for (const Json& cell : json.at("cells")) {
    run.cells.push_back({result::number<std::size_t>(cell.at(0)), result::number<int>(cell.at(1)),
                         result::number<std::int64_t>(cell.at(2))});
    const Cell& one = run.cells.back();
    if (one.event >= record.events.size() || one.counter < -1 || one.counter >= std::max(record.counters, 1)) {
      throw std::runtime_error("a cell has an event or counter that the first line does not list");
    }
  }
  if (run.payload >= record.payloads.size() || run.size >= record.sizes.size()) {
    throw std::runtime_error("it has a payload or size that the first line does not list");
  }
  return run;
}

}  // namespace

std::string header_line(const Record& record) {
  Json json;
  json["schema"] = schema;
  json["backend"] = record.backend;
  json["seed"] = record.seed;
  json["counters"] = record.counters;
  if (!record.used.empty()) json["used"] = record.used;
  if (record.processor) json["processor"] = *record.processor;
  json["sizes"] = record.sizes;
  json["repeats"] = record.repeats;
  json["events"] = record.events;
  json["payloads"] = Json::array();
  for (const Facts& facts : record.payloads) {
    json["payloads"].push_back({{"name", facts.name},
                                {"control", facts.control},
                                {"target", facts.target},
                                {"known", facts.known},
                                {"composition", composition_json(facts.composition)}});
    if (!facts.code.empty()) json["payloads"].back()["code"] = facts.code;
  }
  return json_text(json) + "\n";
}

std::string run_line(const Run& run) {
  std::string cells;
  for (const Cell& cell : run.cells) {
    cells += fmt::format("{}[{},{},{}]", cells.empty() ? "" : ",", cell.event, cell.counter, cell.count);
  }
  return fmt::format(
      R"({{"stage":"{}","payload":{},"size":{},"repeat":{},"batch":{},"instructions":{},"cycles":{},"time_ms":{},)"
      R"("interrupts":{},"running":{},"rewritten":{},"cells":[{}]}})"
      "\n",
      run.stage == Run::Stage::slopes ? "slopes" : "screen", run.payload, run.size, run.repeat, run.batch,
      run.instructions, run.cycles, run.time_ms, run.interrupts, run.running, run.rewritten, cells);
}

Result<Record> read_record(std::string_view text) {
  Record record;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // an incomplete line, from when tally ended
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++number;
    try {
      const Json json = parse_json<Json>(line);
      if (number == 1) {
        if (json.value("schema", "") != schema) {
          return fail(Code::bad_usage,
                      fmt::format("this is not a record of tally discover: its schema is not {}", schema));
        }
        record = header_of(json);
      } else if (json.contains("stage")) {
        record.runs.push_back(run_of(json, record));
      }
    } catch (const std::exception& error) {
      return fail(Code::bad_usage, fmt::format("line {}: {}", number, printable(json_problem_in_line(error.what()))));
    }
  }
  if (number == 0) return fail(Code::bad_usage, "the file is empty");
  return record;
}

}  // namespace tally::discover
