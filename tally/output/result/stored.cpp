#include "tally/output/result/stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/base/unit_names.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::result {
namespace {

// Everything below may throw Json::exception: read_stats() turns it into an Error.

// The index among the programs that a process executed.
int image(const Json& json) {
  (void)count(json);
  return number<int>(json);
}

// An element of a list with one value per run.
template <class T>
std::optional<T> of_run(const Json& list, std::size_t run) {
  const Json& value = list.at(run);
  return value.is_null() ? std::nullopt : std::optional(number<T>(value));
}

End end(const std::string& name) {
  static const std::map<std::string, End> names{
      {"exited", End::exited}, {"signalled", End::signalled}, {"executed", End::executed}, {"running", End::running}};
  const auto found = names.find(name);
  return found == names.end() ? End::unknown : found->second;
}

EventCount event_count(const Json& json) {
  EventCount one;
  one.event = json.at("event").get<std::string>();
  one.name = split_event_name(json.at("name").get<std::string>());
  one.unit = unit_named(text(json, "unit"));
  one.count.value = optional_count(json, "value");
  one.count.trust = trust(json.at("trust"));
  one.count.reason = text(json, "reason");
  one.count.source = parse_source(text(json, "source"));
  one.count.model = text(json, "model");
  one.count.error_percent = optional<double>(json, "error_percent");
  if (const auto raw = optional<std::int64_t>(json, "raw")) {
    one.count.reading = Reading{*raw, Nanoseconds{number<std::int64_t>(json.at("time_enabled_ns"))},
                                Nanoseconds{number<std::int64_t>(json.at("time_running_ns"))}};
  }
  one.repeats = text(json, "class");
  if (const auto corrected = optional<std::int64_t>(json, "corrected")) {
    one.count.correction =
        Correction{*corrected, number<std::int64_t>(json.at("added_by_each")),
                   number<std::int64_t>(json.at("page_faults")), optional<std::int64_t>(json, "interrupts")};
  }
  if (!one.count.value) one.count.trust = Trust::absent;
  return one;
}

std::vector<EventCount> event_counts(const Json& list) {
  std::vector<EventCount> counts;
  for (const Json& json : list) counts.push_back(event_count(json));
  return counts;
}

// Files store the value and the trust of a run's count; the rest is from the row.
EventCount count_of_run(const Json& json, const EventCount& row, std::size_t run) {
  EventCount one = row;
  const Json& value = json.at("runs").at(run);
  one.count.value = value.is_null() ? std::nullopt : std::optional(count(value));
  if (json.contains("run_trusts")) one.count.trust = trust(json.at("run_trusts").at(run));
  if (json.contains("run_reasons")) {
    const Json& reason = json.at("run_reasons").at(run);
    one.count.reason = reason.is_null() ? "" : reason.get<std::string>();
  }
  if (one.count.correction && json.contains("run_corrected")) {
    const auto corrected = of_run<std::int64_t>(json.at("run_corrected"), run);
    if (corrected) one.count.correction->corrected = *corrected;
    if (!corrected) one.count.correction.reset();
  }
  if (!one.count.value) one.count.trust = Trust::absent;
  return one;
}

void read_event(const Json& json, Stat& stat) {
  Event row;
  row.total = event_count(json);
  const bool series = stat.runs_asked > 1;
  std::vector<Count> complete;
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    stat.runs[i].counts.push_back(series ? count_of_run(json, row.total, i) : row.total);
    if (stat.runs[i].complete) complete.push_back(stat.runs[i].counts.back().count);
  }
  if (series && !complete.empty()) row.summary = summarize(complete);
  stat.events.push_back(std::move(row));
}

Metric metric(const Json& json, const Stat& stat) {
  Metric one;
  one.name = json.at("metric").get<std::string>();
  one.formula = text(json, "formula");
  one.unit = text(json, "unit");
  one.row_event = split_event_name(text(json, "event"));
  one.per = split_event_name(text(json, "per"));
  one.asked = json.value("asked", false);
  one.ratio = {optional<double>(json, "value"), trust(json.at("trust")), text(json, "reason"), text(json, "model")};
  if (stat.runs_asked == 1) return one;
  std::vector<Ratio> complete;
  // If no run was completed, a metric has no series.
  for (std::size_t run = 0; run < stat.runs.size() && !json.at("runs").empty(); ++run) {
    one.runs.push_back(of_run<double>(json.at("runs"), run));
    if (!stat.runs[run].complete) continue;
    complete.push_back(one.ratio);
    complete.back().value = one.runs.back();
    if (!one.runs.back()) complete.back().trust = Trust::absent;
  }
  if (!complete.empty()) one.summary = summarize_ratios(complete);
  return one;
}

Run& run_of(Stat& stat, const Json& json) { return stat.runs.at(number<std::size_t>(json.at("run")) - 1); }

void read_processes(const Json& json, Stat& stat) {
  std::map<std::tuple<std::size_t, std::int64_t, int>, std::size_t> places;
  for (const Json& one : json.value("processes", Json::array())) {
    Process process;
    process.pid = count(one.at("pid"));
    process.parent_pid = count(one.at("parent_pid"));
    process.image = image(one.at("image"));
    process.command = text(one, "command");
    process.end = end(text(one, "end"));
    process.end_code = optional<int>(one, "exit_code").value_or(optional<int>(one, "signal").value_or(0));
    process.counts = event_counts(one.at("events"));
    process.single_stepped = optional_count(one, "single_stepped");
    if (const auto from = optional<std::int64_t>(one, "native_from_ns")) process.native_from = Nanoseconds{*from};
    Run& run = run_of(stat, one);
    places[{number<std::size_t>(one.at("run")), process.pid, process.image}] = run.processes.size();
    run.processes.push_back(std::move(process));
  }
  for (const Json& one : json.value("threads", Json::array())) {
    Thread thread;
    thread.tid = count(one.at("tid"));
    thread.name = text(one, "name");
    thread.counts = event_counts(one.at("events"));
    Run& run = run_of(stat, one);
    const std::tuple key{number<std::size_t>(one.at("run")), count(one.at("pid")), image(one.at("image"))};
    // Threads may be stored without their process: create it.
    if (!places.contains(key)) {
      places[key] = run.processes.size();
      run.processes.push_back({});
      run.processes.back().pid = std::get<1>(key);
      run.processes.back().image = std::get<2>(key);
    }
    run.processes[places[key]].threads.push_back(std::move(thread));
  }
}

BaselineVerdict baseline_verdict(const Json& json) {
  BaselineVerdict verdict{text(json, "baseline"), text(json, "state"), text(json, "verdict"), {}};
  for (const Json& one : json.at("gates"))
    verdict.gates.push_back({text(one, "gate"), one.at("hard").get<bool>(), text(one, "state"), text(one, "text")});
  return verdict;
}

std::uint64_t hash_of(const Json& json) {
  const std::string text = json.get<std::string>();
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size())
    throw Json::type_error::create(302, "a hash must be hexadecimal", &json);
  return hash;
}

std::vector<ThreadPath> read_paths(const Json& json) {
  std::vector<ThreadPath> paths;
  for (const Json& one : json) {
    ThreadPath path;
    path.program = text(one, "program");
    path.process = number<int>(one.at("process"));
    path.thread = number<int>(one.at("thread"));
    path.pid = count(one.at("pid"));
    path.tid = count(one.at("tid"));
    path.instructions = static_cast<std::uint64_t>(count(one.at("instructions")));
    path.complete = one.at("complete").get<bool>();
    path.interval = static_cast<std::uint64_t>(count(one.at("interval")));
    for (const Json& hash : one.at("hashes")) path.hashes.push_back(hash_of(hash));
    path.end = hash_of(one.at("end"));
    paths.push_back(std::move(path));
  }
  return paths;
}

StartConditions start_conditions(const Json& json) {
  StartConditions start;
  if (const Json& program = json.at("program"); !program.is_null())
    start.program = {static_cast<std::uint64_t>(count(program.at("bytes"))),
                     number<std::int64_t>(program.at("modified_s")), number<std::uint32_t>(program.at("modified_ns"))};
  start.directory = text(json, "directory");
  start.streams = json.at("streams").get<std::vector<std::string>>();
  constexpr std::int64_t longest_word = 32 * 4096;  // execve(2): MAX_ARG_STRLEN
  for (const Json& one : json.at("environment")) {
    const std::int64_t bytes = count(one.at("bytes"));
    if (bytes < 0 || bytes > longest_word)
      throw Json::out_of_range::create(406, "no variable of the environment has that length", &one);
    start.environment.push_back({text(one, "name"), bytes, number<std::uint32_t>(one.at("check"))});
  }
  return start;
}

Stat stat_of(const Json& json) {
  Stat stat;
  stat.command = json.at("command").get<std::vector<std::string>>();
  if (json.contains("target")) stat.target = text(json, "target");
  stat.exit_code = optional<int>(json, "exit_code");
  stat.signal = optional<int>(json, "signal");
  stat.backend = json.at("backend").get<std::string>();
  stat.environment = read_environment(json);
  stat.runs_asked = number<int>(json.at("runs_asked"));
  if (stat.runs_asked < 1) throw Json::out_of_range::create(406, "the number of runs is below 1", &json);
  stat.waited_for_all = json.value("waited_for_all", false);
  stat.processor = optional<int>(json, "processor");
  read_models(json, stat);
  if (const auto start = json.find("start"); start != json.end()) stat.start = start_conditions(*start);
  stat.passes = json.value("passes", stat.passes);
  stat.of_parts = json.value("of_parts", false);
  for (const Json& one : json.at("runs")) {
    Run run;
    run.exit_code = optional<int>(one, "exit_code");
    run.signal = optional<int>(one, "signal");
    run.complete = one.at("complete").get<bool>();
    run.process_count = optional_count(one, "processes");
    run.thread_count = optional_count(one, "threads");
    run.single_stepped = optional_count(one, "single_stepped");
    if (const auto sources = one.find("nondeterminism"); sources != one.end())
      run.nondeterminism = read_sources(*sources);
    if (const auto paths = one.find("paths"); paths != one.end()) run.paths = read_paths(*paths);
    stat.runs.push_back(std::move(run));
  }
  for (const Json& one : json.at("events")) read_event(one, stat);
  for (const Json& one : json.at("metrics")) stat.metrics.push_back(metric(one, stat));
  stat.notices = json.at("notices").get<std::vector<std::string>>();
  stat.interrupted_by = optional<int>(json, "interrupted_by");
  stat.incomplete = json.at("incomplete").get<bool>();
  if (const auto gate = json.find("gate"); gate != json.end()) stat.gate = baseline_verdict(*gate);
  for (const Json& one : json.value("intervals", Json::array())) {
    run_of(stat, one).intervals.push_back({number<int>(one.at("run")),
                                           Nanoseconds(number<std::int64_t>(one.at("end_ns"))),
                                           event_counts(one.at("events"))});
  }
  for (const Json& one : json.value("parts", Json::array())) {
    run_of(stat, one).parts.push_back(
        {one.at("part").get<std::string>(), one.at("cpus").get<std::string>(), event_counts(one.at("events"))});
  }
  for (const Json& one : json.value("regions", Json::array()))
    run_of(stat, one).regions.push_back(program_regions(one));
  read_processes(json, stat);
  return stat;
}

tl::unexpected<Error> broken(const std::string& name, std::string_view what) {
  return fail(Code::bad_usage,
              fmt::format("'{}' is not a result of `tally stat`: {}", printable(name), printable(what)),
              "`tally stat --format json -o FILE` writes one");
}

Result<Stat> checked(const Json& json, const std::string& name) {
  if (!json.is_object() || !json.contains("schema")) return broken(name, "it is not a JSON object with a schema");
  if (json["schema"] != "tally-stat/2")
    return broken(name,
                  fmt::format("its schema is {}; this version reads \"tally-stat/2\"", json_text(json["schema"])));
  return stat_of(json);
}

}  // namespace

bool is_stat(std::string_view text) {
  // The schema is always the first key.
  return trimmed(text.substr(0, 100)).starts_with('{') && text.substr(0, 200).find("\"tally-stat/") != text.npos;
}

Result<std::vector<Stat>> read_stats(std::string_view text, const std::string& name) {
  std::vector<Stat> stats;
  try {
    for (const Json& json : objects(text)) {
      auto stat = checked(json, name);
      if (!stat) return fail(stat.error());
      stats.push_back(std::move(*stat));
    }
  } catch (const Json::exception& exception) {
    return broken(name, parse_error_text(text, exception.what()));
  } catch (const std::out_of_range&) {
    return broken(name, "a process belongs to a run that is missing");
  }
  if (stats.empty()) return broken(name, "it is empty");
  return stats;
}

}  // namespace tally::result
