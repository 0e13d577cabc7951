// The JSON results of google-benchmark and hyperfine.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/median.hpp"
#include "tally/output/formats/other_tools.hpp"
#include "tally/output/result/reading.hpp"

namespace tally::report {
namespace {

using result::Json;

/// The object that a text is; null if it is something else, discarded if it is not complete.
Json object_of(std::string_view text) {
  if (!trimmed(text.substr(0, 100)).starts_with('{')) return nullptr;
  Json json = parse_json_or_discard<Json>(text);
  return json.is_object() || json.is_discarded() ? json : Json(nullptr);
}

/// Whether the first key of an object is this one.
bool has_first_key(std::string_view text, std::string_view key) {
  text.remove_prefix(std::min(text.find('{') + 1, text.size()));
  return trimmed(text.substr(0, 100)).starts_with(fmt::format("\"{}\"", key));
}

/// Reads a text with `read`, which may throw Json::exception.
Result<Comparable> read_json(std::string_view text, const std::string& name, const char* tool,
                             Comparable (*read)(const Json&)) {
  try {
    Comparable comparable = read(parse_json<Json>(text));
    if (!comparable.measures.empty()) return comparable;
    return fail(Code::bad_usage, fmt::format("'{}': the result of {} is empty", printable(name), tool));
  } catch (const Json::exception& exception) {
    return fail(Code::bad_usage,
                fmt::format("'{}' looks like a result of {}, but {}: {}", printable(name), tool,
                            Json::accept(text) ? "cannot be read" : "is damaged or ends early",
                            printable(result::parse_error_text(text, exception.what()))),
                "write the file again");
  }
}

// google-benchmark: https://github.com/google/benchmark/blob/main/docs/user_guide.md, "Output Formats".

constexpr const char* benchmark_repeats = "several repetitions on each side: --benchmark_repetitions=10";

double nanoseconds_per(const std::string& unit) {
  return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1;
}

/// The keys of a benchmark that are no counters of the user.
bool is_own_key(const std::string& key) {
  for (const char* own : {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads",
                          "iterations", "real_time", "cpu_time"})
    if (key == own) return true;
  return false;
}

/// Values by benchmark and quantity.
class Benchmarks {
 public:
  explicit Benchmarks(Comparable& to) : to_(to) {}

  /// Adds a run, or a median that stands for several runs.
  void add(const Json& run, bool is_run) {
    const std::string subject = run.contains("run_name") ? result::text(run, "run_name") : result::text(run, "name");
    if (run.value("error_occurred", false)) {
      Measure& failed = measure(subject, "real_time");
      failed.trust = Trust::absent;
      failed.reason = result::text(run, "error_message");
      return;
    }
    const double factor = nanoseconds_per(run.value("time_unit", "ns"));
    for (const auto& [key, value] : run.items()) {
      if (!value.is_number()) continue;
      const bool is_time = key == "real_time" || key == "cpu_time";
      if (!is_time && is_own_key(key)) continue;
      Measure& one = measure(subject, key);
      if (is_time) one.fraction_unit = "ns";
      if (key.ends_with("_per_second")) one.better = Better::more;
      const Value number = static_cast<Value>(value.get<double>()) * (is_time ? factor : 1);
      if (is_run)
        one.runs.push_back(number);
      else
        one.value = number;
    }
  }

 private:
  Measure& measure(const std::string& subject, const std::string& name) {
    const auto [entry, is_new] = places_.try_emplace({subject, name}, to_.measures.size());
    if (is_new) {
      to_.measures.push_back({.subject = subject, .name = name, .is_fraction = true, .trust = Trust::counted});
      to_.measures.back().how_to_repeat = benchmark_repeats;
    }
    return to_.measures[entry->second];
  }

  Comparable& to_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

/// What the result says of the processor: its number of CPUs and its caches.
std::string processor_of(const Json& context) {
  std::string text = fmt::format("{} CPUs", context.value("num_cpus", 0));
  for (const Json& cache : context.value("caches", Json::array()))
    text += fmt::format(", L{} {} {}", cache.value("level", 0), result::text(cache, "type"),
                        cache.value("size", std::int64_t{0}));
  return text;
}

Comparable google_benchmark(const Json& json) {
  Comparable comparable;
  const Json& context = json.at("context");
  if (const std::string program = result::text(context, "executable"); !program.empty()) comparable.command = {program};
  comparable.environment.cpu = processor_of(context);
  if (result::text(context, "library_build_type") == "debug") comparable.note = "google-benchmark was built as DEBUG";
  Benchmarks benchmarks(comparable);
  bool has_runs = false;
  for (const Json& run : json.at("benchmarks"))
    if (run.value("run_type", "iteration") == "iteration") {
      benchmarks.add(run, true);
      has_runs = true;
    }
  if (!has_runs)
    for (const Json& run : json.at("benchmarks"))
      if (run.value("aggregate_name", "") == "median") benchmarks.add(run, false);
  for (Measure& measure : comparable.measures) {
    if (!measure.value && !measure.runs.empty()) measure.value = stats::wide_median(measure.runs);
    if (!measure.value) measure.trust = Trust::absent;
    comparable.runs = std::max(comparable.runs, measure.runs.size());
  }
  return comparable;
}

// hyperfine --export-json: times in seconds.

Value nanoseconds(const Json& seconds) { return std::round(static_cast<Value>(seconds.get<double>()) * 1e9L); }

Measure hyperfine_time(const std::string& subject, const char* name) {
  Measure measure{.subject = subject, .name = name, .unit = Unit::nanoseconds, .trust = Trust::counted};
  measure.how_to_repeat = "several runs on each side: hyperfine --runs 10 stores single values of the time only";
  return measure;
}

void add_hyperfine(const Json& one, const std::string& subject, Comparable& to) {
  Measure time = hyperfine_time(subject, "time");
  for (const Json& value : one.value("times", Json::array())) time.runs.push_back(nanoseconds(value));
  time.value = time.runs.empty() ? nanoseconds(one.at("median")) : stats::wide_median(time.runs);
  to.runs = std::max(to.runs, time.runs.size());
  to.measures.push_back(std::move(time));
  for (const char* const name : {"user", "system"}) {
    const auto mean = one.find(name);
    if (mean == one.end() || !mean->is_number()) continue;
    Measure measure = hyperfine_time(subject, name);
    measure.value = nanoseconds(*mean);
    to.measures.push_back(std::move(measure));
  }
}

Comparable hyperfine(const Json& json) {
  Comparable comparable;
  const Json& results = json.at("results");
  if (results.size() == 1) comparable.command = split(results[0].at("command").get<std::string>(), ' ');
  comparable.target = "hyperfine";
  for (const Json& one : results)
    add_hyperfine(one, results.size() == 1 ? "" : one.at("command").get<std::string>(), comparable);
  return comparable;
}

}  // namespace

bool is_google_benchmark(std::string_view text) {
  const Json json = object_of(text);
  if (json.is_discarded()) return has_first_key(text, "context");
  return json.is_object() && json.contains("context") && json.contains("benchmarks") && json["benchmarks"].is_array();
}

Result<Comparable> read_google_benchmark(std::string_view text, const std::string& name) {
  return read_json(text, name, "google-benchmark", google_benchmark);
}

bool is_hyperfine(std::string_view text) {
  const Json json = object_of(text);
  if (json.is_discarded()) return has_first_key(text, "results");
  if (!json.is_object() || !json.contains("results") || !json["results"].is_array() || json["results"].empty())
    return false;
  const Json& first = json["results"][0];
  return first.is_object() && first.contains("command") && first.contains("mean");
}

Result<Comparable> read_hyperfine(std::string_view text, const std::string& name) {
  return read_json(text, name, "hyperfine", hyperfine);
}

}  // namespace tally::report
