#include <fmt/format.h>

#include "tally/core/base/json_text.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/analysis/roofline.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/json_values.hpp"
#include "tally/output/kit/process_end.hpp"

namespace tally::output {
namespace {

const char* end_name(result::End end) {
  switch (end) {
    case result::End::exited: return "exited";
    case result::End::signalled: return "signalled";
    case result::End::executed: return "executed";
    case result::End::running: return "running";
    case result::End::unknown: break;
  }
  return "unknown";
}

Json count_json(const result::EventCount& one) {
  const Count& count = one.count;
  Json json;
  json["event"] = one.event;
  json["name"] = one.name.text();
  json["unit"] = unit_name(one.unit);
  json["value"] = value_or_null(count.value);
  json["trust"] = name(count.trust);
  json["reason"] = text_or_null(count.reason);
  json["source"] = text_or_null(count.source.text());
  json["model"] = text_or_null(count.model);
  json["running_percent"] = value_or_null(running_percent(count));
  json["error_percent"] = value_or_null(count.error_percent);
  json["class"] = text_or_null(one.repeats);
  if (count.reading) {
    json["raw"] = count.reading->raw;
    json["time_enabled_ns"] = count.reading->time_enabled.count();
    json["time_running_ns"] = count.reading->time_running.count();
  }
  if (const auto& correction = count.correction) {
    json["corrected"] = correction->corrected;
    json["added_by_each"] = correction->each;
    json["page_faults"] = correction->page_faults;
    json["interrupts"] = value_or_null(correction->interrupts);
  }
  return json;
}

Json counts_json(const std::vector<result::EventCount>& counts) {
  Json list = Json::array();
  for (const result::EventCount& count : counts) list.push_back(count_json(count));
  return list;
}

// The series of an event or a metric: the values of the runs, and their summary.
template <class T>
void add_series(Json& json, Json runs, const SummaryOf<T>& summary) {
  json["runs"] = std::move(runs);
  json["median"] = value_or_null(summary.median);
  json["low"] = value_or_null(summary.low);
  json["high"] = value_or_null(summary.high);
  json["interval_percent"] = summary.coverage ? Json(*summary.coverage * 100) : Json(nullptr);
  json["interval_reason"] = summary.coverage ? Json(nullptr) : Json(summary.reason);
  json["min"] = value_or_null(summary.min);
  json["max"] = value_or_null(summary.max);
}

Json event_json(const result::Stat& stat, std::size_t index) {
  const result::Event& row = stat.events[index];
  Json json = count_json(row.total);
  if (stat.runs_asked == 1) return json;
  Json runs = Json::array();
  Json trusts = Json::array();
  Json reasons = Json::array();
  Json corrected = Json::array();
  for (const result::Run& run : stat.runs) {
    runs.push_back(value_or_null(run.counts[index].count.value));
    trusts.push_back(name(run.counts[index].count.trust));
    reasons.push_back(text_or_null(run.counts[index].count.reason));
    const auto& correction = run.counts[index].count.correction;
    corrected.push_back(correction ? Json(correction->corrected) : Json(nullptr));
  }
  add_series(json, std::move(runs), row.summary.value_or(summarize({})));
  json["run_trusts"] = std::move(trusts);
  json["run_reasons"] = std::move(reasons);
  if (row.total.count.correction) json["run_corrected"] = std::move(corrected);
  return json;
}

Json metric_json(const result::Stat& stat, const result::Metric& metric) {
  Json json = metric_values(metric);
  if (stat.runs_asked == 1) return json;
  Json runs = Json::array();
  for (const auto& value : metric.runs) runs.push_back(value_or_null(value));
  add_series(json, std::move(runs), metric.summary.value_or(summarize_ratios({})));
  return json;
}

/// Adds data that only the engine provides.
Json with_engine(Json json, const std::optional<std::int64_t>& single_stepped) {
  if (single_stepped) json["single_stepped"] = *single_stepped;
  return json;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

void add_paths(Json& json, const std::vector<result::ThreadPath>& paths) {
  if (paths.empty()) return;
  Json list = Json::array();
  for (const result::ThreadPath& path : paths) {
    Json hashes = Json::array();
    for (const std::uint64_t hash : path.hashes) hashes.push_back(hash_text(hash));
    list.push_back({{"program", path.program},
                    {"process", path.process},
                    {"thread", path.thread},
                    {"pid", path.pid},
                    {"tid", path.tid},
                    {"instructions", path.instructions},
                    {"complete", path.complete},
                    {"interval", path.interval},
                    {"hashes", std::move(hashes)},
                    {"end", hash_text(path.end)}});
  }
  json["paths"] = std::move(list);
}

void add_start(Json& json, const std::optional<result::StartConditions>& start) {
  if (!start) return;
  Json environment = Json::array();
  for (const result::EnvironmentVariable& variable : start->environment)
    environment.push_back({{"name", variable.name}, {"bytes", variable.bytes}, {"check", variable.check}});
  json["start"] = {{"program", nullptr},
                   {"directory", start->directory},
                   {"streams", start->streams},
                   {"environment", std::move(environment)}};
  if (const auto& program = start->program)
    json["start"]["program"] = {
        {"bytes", program->bytes}, {"modified_s", program->modified_s}, {"modified_ns", program->modified_ns}};
}

Json process_json(const result::Process& process, std::size_t run) {
  return {{"run", run},
          {"pid", process.pid},
          {"parent_pid", process.parent_pid},
          {"image", process.image},
          {"command", process.command},
          {"end", end_name(process.end)},
          {"exit_code", process.end == result::End::exited ? Json(process.end_code) : Json(nullptr)},
          {"signal", process.end == result::End::signalled ? Json(process.end_code) : Json(nullptr)},
          {"events", counts_json(process.counts)}};
}

Json runs_json(const result::Stat& stat) {
  Json list = Json::array();
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    const result::Run& run = stat.runs[i];
    list.push_back(with_engine({{"run", i + 1},
                                {"exit_code", value_or_null(run.exit_code)},
                                {"signal", value_or_null(run.signal)},
                                {"complete", run.complete},
                                {"processes", value_or_null(run.process_count)},
                                {"threads", value_or_null(run.thread_count)}},
                               run.single_stepped));
    add_sources(list.back(), run.nondeterminism);
    add_paths(list.back(), run.paths);
  }
  return list;
}

void add_processes(Json& json, const result::Stat& stat, const Style& style) {
  Json processes = Json::array();
  Json threads = Json::array();
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    for (const result::Process& process : stat.runs[i].processes) {
      if (!has_only_threads(process)) {
        processes.push_back(with_engine(process_json(process, i + 1), process.single_stepped));
        if (process.native_from) processes.back()["native_from_ns"] = process.native_from->count();
      }
      for (const result::Thread& thread : process.threads) {
        threads.push_back({{"run", i + 1},
                           {"pid", process.pid},
                           {"image", process.image},
                           {"tid", thread.tid},
                           {"name", thread.name},
                           {"events", counts_json(thread.counts)}});
      }
    }
  }
  if (style.per_process) json["processes"] = std::move(processes);
  if (style.per_thread) json["threads"] = std::move(threads);
}

void add_parts(Json& json, const result::Stat& stat) {
  Json parts = Json::array();
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    for (const result::Part& part : stat.runs[i].parts) {
      parts.push_back({{"run", i + 1}, {"part", part.name}, {"cpus", part.cpus}, {"events", counts_json(part.counts)}});
    }
  }
  if (!parts.empty()) json["parts"] = std::move(parts);
}

void add_regions(Json& json, const result::Stat& stat) {
  Json regions = Json::array();
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    for (const result::ProgramRegions& program : stat.runs[i].regions) {
      Json one{{"run", i + 1}};
      one.update(regions_object(program));
      regions.push_back(std::move(one));
    }
  }
  if (!regions.empty()) json["regions"] = std::move(regions);
}

void add_intervals(Json& json, const result::Stat& stat) {
  Json intervals = Json::array();
  for (const result::Run& run : stat.runs) {
    for (const result::Interval& interval : run.intervals) {
      intervals.push_back(
          {{"run", interval.run}, {"end_ns", interval.end.count()}, {"events", counts_json(interval.counts)}});
    }
  }
  if (!intervals.empty()) json["intervals"] = std::move(intervals);
}

Json gate_json(const result::BaselineVerdict& verdict) {
  Json gates = Json::array();
  for (const result::BaselineVerdict::Gate& gate : verdict.gates)
    gates.push_back({{"gate", gate.limit}, {"hard", gate.is_hard}, {"state", gate.state}, {"text", gate.text}});
  return {
      {"baseline", verdict.baseline}, {"state", verdict.state}, {"verdict", verdict.text}, {"gates", std::move(gates)}};
}

void add_top_down(Json& json, const result::Stat& stat) {
  for (const TopDownClass& row : top_down(stat.events))
    json["topdown"].push_back({{"class", row.name}, {"level", row.level}, {"slots", row.slots}, {"share", row.share}});
}

Json object(const result::Stat& stat, const Style& style) {
  Json json = document("tally-stat/2", stat.environment.provenance);
  json["command"] = stat.command;
  if (!stat.target.empty()) json["target"] = stat.target;
  json["exit_code"] = value_or_null(stat.exit_code);
  json["signal"] = value_or_null(stat.signal);
  json["backend"] = stat.backend;
  json["incomplete"] = stat.incomplete;
  json["interrupted_by"] = value_or_null(stat.interrupted_by);
  json["waited_for_all"] = stat.waited_for_all;
  if (stat.gate) json["gate"] = gate_json(*stat.gate);
  json["notices"] = stat.notices;
  json["environment"] = environment_json(stat.environment);
  json["processor"] = value_or_null(stat.processor);
  add_models(json, stat);
  add_unasked(json, stat);
  add_mix(json, stat.mix);
  add_roofline(json, stat.roofline, add_verdict);
  add_start(json, stat.start);
  json["runs_asked"] = stat.runs_asked;
  if (!stat.passes.empty()) json["passes"] = stat.passes;
  if (stat.of_parts) json["of_parts"] = true;
  json["runs"] = runs_json(stat);
  json["events"] = Json::array();
  for (std::size_t i = 0; i < stat.events.size(); ++i) json["events"].push_back(event_json(stat, i));
  json["metrics"] = Json::array();
  for (const result::Metric& metric : stat.metrics) json["metrics"].push_back(metric_json(stat, metric));
  add_top_down(json, stat);
  add_intervals(json, stat);
  add_parts(json, stat);
  add_processes(json, stat, style);
  add_regions(json, stat);
  return json;
}

std::string text_of(const Json& json, const Style& style) {
  // A command line may contain invalid UTF-8; JSON may not.
  return json_text(json, style.one_line ? -1 : 2) + "\n";
}

}  // namespace

Result<std::string> json(const result::Stat& stat, const Style& style) { return text_of(object(stat, style), style); }

std::string description(const result::Stat& stat, const Style& style, const StatFormat& of) {
  Json json = object(stat, style);
  if (of.columns) {
    json["columns"] = Json::object();
    for (const auto& [column, event] : of.columns(stat)) json["columns"][column] = event;
  }
  return text_of(json, style);
}

Result<Style> append_json(std::string_view existing, Style style) {
  const std::string_view first = existing.substr(0, existing.find('\n'));
  const Json line = parse_json_or_discard<Json>(first);
  if (!line.is_object() || !line.contains("schema")) {
    return fail(Code::bad_usage, "cannot append: the file does not have one JSON object per line",
                "use another file: with `--append`, tally creates it in this form");
  }
  if (line["schema"] != "tally-stat/2") {
    return fail(
        Code::bad_usage,
        "cannot append: the file has objects of the schema " + json_text(line["schema"]) + ", not \"tally-stat/2\"",
        "use another file");
  }
  style.one_line = true;
  return style;
}

}  // namespace tally::output
