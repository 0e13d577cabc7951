// The JSON results of google-benchmark, hyperfine, pytest-benchmark and Criterion.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/median.hpp"
#include "tally/output/data/other_tools.hpp"
#include "tally/output/result/json_reading.hpp"

namespace tally::output {
namespace {

using result::Json;

/// The object that a text is; null if it is something else, discarded if it is not complete.
Json object_of(std::string_view text) {
  if (!trimmed(text.substr(0, 100)).starts_with('{')) return nullptr;
  Json json = parse_json_or_discard<Json>(text);
  if (json.is_discarded()) json = parse_json_or_discard<Json>(quote_wrong_numbers(text));
  return json.is_object() || json.is_discarded() ? json : Json(nullptr);
}

/// Whether the first key of an object is this one.
bool has_first_key(std::string_view text, std::string_view key) {
  text.remove_prefix(std::min(text.find('{') + 1, text.size()));
  return trimmed(text.substr(0, 100)).starts_with(fmt::format("\"{}\"", key));
}

/// Reads a text with `read`, which may throw Json::exception.
Result<Comparable> read_json(std::string_view file, const std::string& name, const char* tool,
                             Comparable (*read)(const Json&)) {
  const std::string text = quote_wrong_numbers(file);
  try {
    Comparable comparable = read(parse_json<Json>(text));
    comparable.lists_benchmarks = true;
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

/// What a file contains where a number belongs: a text, or null.
std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : json_text(value); }

constexpr const char* no_time = "it is not above 0: no time was measured";

// google-benchmark: https://github.com/google/benchmark/blob/main/docs/user_guide.md, "Output Formats".

constexpr const char* benchmark_repeats = "several repetitions on each side: --benchmark_repetitions=10";

/// 0 if the unit is unknown.
double nanoseconds_per(const std::string& unit) {
  return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : unit == "ns" ? 1 : 0;
}

/// The keys of a benchmark that are no counters of the user.
bool is_own_key(const std::string& key) {
  for (const char* own : {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads",
                          "iterations", "label"})
    if (key == own) return true;
  return false;
}

/// The values of benchmarks, by name and quantity.
class Benchmarks {
 public:
  explicit Benchmarks(Comparable& to) : to_(to) {}

  /// Adds a run, or the median of the runs, which is used if the file does not have the runs.
  void add(const Json& run) {
    const bool is_run = run.value("run_type", "iteration") == "iteration";
    if (!is_run && run.value("aggregate_name", "") != "median") return;
    const std::string name = run.contains("run_name") ? result::text(run, "run_name") : result::text(run, "name");
    Benchmark& benchmark = benchmarks_[name];
    benchmark.add(run, is_run);
    const bool failed = run.value("error_occurred", false);
    if (failed || run.value("skipped", false)) {
      ++benchmark.failed;
      benchmark.end = failed ? "failed" : "skipped";
      benchmark.message = result::text(run, failed ? "error_message" : "skip_message");
      for (const char* const time : {"real_time", "cpu_time"}) measure(name, time);
      return;
    }
    const double factor = nanoseconds_per(run.value("time_unit", "ns"));
    for (const auto& [key, value] : run.items()) {
      const bool is_time = key == "real_time" || key == "cpu_time";
      const bool is_number = value.is_number() && (!is_time || factor > 0);
      if (!is_time && (is_own_key(key) || !(is_number || (value.is_string() && is_wrong_number(text_of(value))))))
        continue;
      Measure& one = measure(name, key);
      if (!is_number) {
        one.reason = value.is_number() ? fmt::format("the unit '{}' is unknown", result::text(run, "time_unit"))
                                       : not_a_number(text_of(value));
        continue;
      }
      const Value number = static_cast<Value>(value.get<double>()) * (is_time ? factor : 1);
      if (is_time && number <= 0) one.reason = no_time;
      if (is_run)
        one.runs.push_back(number);
      else
        one.value = number;
    }
  }

  /// Computes the values, when all runs were added.
  void finish() {
    for (Measure& one : to_.measures) {
      const std::string problem = benchmarks_[one.subject].problem();
      if (!problem.empty() || !one.reason.empty())
        mark_absent(one, problem.empty() ? one.reason : problem);
      else if (!one.runs.empty())
        one.value = stats::wide_median(one.runs);
      to_.runs = std::max(to_.runs, one.runs.size());
    }
  }

 private:
  /// The runs of one name.
  struct Benchmark {
    std::size_t runs = 0, failed = 0;
    std::string end = {}, message = {};       ///< of a failed run: "skipped"
    std::set<std::string> instances = {};     ///< the benchmarks that have the name
    std::set<std::int64_t> repetitions = {};  ///< numbers of the runs
    bool is_repeated = false;                 ///< several benchmarks have the name

    void add(const Json& run, bool is_run) {
      instances.insert(fmt::format("{}/{}", run.value("family_index", std::int64_t{0}),
                                   run.value("per_family_instance_index", std::int64_t{0})));
      is_repeated = is_repeated || instances.size() > 1;
      if (!is_run) return;
      ++runs;
      const auto number = result::optional<std::int64_t>(run, "repetition_index");
      is_repeated = is_repeated || (number && !repetitions.insert(*number).second);
    }
    /// Why the benchmark cannot be compared; empty if it can.
    std::string problem() const {
      if (is_repeated) return "several benchmarks have this name";
      if (failed == 0) return "";
      const std::string which = failed >= runs ? "" : fmt::format(" in {} of {} runs", failed, runs);
      return fmt::format("{}{}{}{}", end, which, message.empty() ? "" : ": ", message);
    }
  };

  Measure& measure(const std::string& subject, const std::string& name) {
    const auto [entry, is_new] = places_.try_emplace({subject, name}, to_.measures.size());
    Measure& one = is_new ? to_.measures.emplace_back() : to_.measures[entry->second];
    if (!is_new) return one;
    one.subject = subject;
    one.name = name;
    one.is_fraction = true;
    one.trust = Trust::counted;
    one.how_to_repeat = benchmark_repeats;
    if (name == "real_time" || name == "cpu_time") one.fraction_unit = "ns";
    if (name.ends_with("_per_second")) one.better = Better::more;
    return one;
  }

  Comparable& to_;
  std::map<std::string, Benchmark> benchmarks_;
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
  for (const Json& run : json.at("benchmarks")) benchmarks.add(run);
  benchmarks.finish();
  return comparable;
}

// hyperfine --export-json: times in seconds.

/// Nothing if the file has no number.
std::optional<Value> nanoseconds(const Json& seconds) {
  if (!seconds.is_number()) return std::nullopt;
  return std::round(static_cast<Value>(seconds.get<double>()) * 1e9L);
}

Measure hyperfine_time(const std::string& subject, const char* name) {
  Measure measure{.subject = subject, .name = name, .unit = Unit::nanoseconds, .trust = Trust::counted};
  measure.how_to_repeat = "several values on each side: hyperfine stores those of the time only";
  return measure;
}

/// How the runs of a command ended that did not succeed.
struct FailedRuns {
  std::size_t failed = 0, all = 0;
  std::set<std::string> ends = {};  ///< "exit code 1"

  bool are_all_equal() const { return failed == all && ends.size() == 1; }
  std::string text() const {
    return fmt::format("{} of {} runs failed: {}", failed, all,
                       join(std::vector<std::string>(ends.begin(), ends.end()), ", "));
  }
};

FailedRuns failed_runs(const Json& one) {
  FailedRuns runs;
  const auto codes = one.find("exit_codes");
  if (codes == one.end() || !codes->is_array()) return runs;
  for (const Json& code : *codes) {
    ++runs.all;
    if (code == 0) continue;
    ++runs.failed;
    runs.ends.insert(code.is_null() ? "a signal" : fmt::format("exit code {}", code.get<std::int64_t>()));
  }
  return runs;
}

void add_hyperfine(const Json& one, const std::string& subject, Comparable& to) {
  const FailedRuns failed = failed_runs(one);
  const std::string problem = failed.failed > 0 && !failed.are_all_equal() ? failed.text() : "";
  const auto add = [&](Measure measure, const Json& value) {
    if (!measure.value) measure.value = nanoseconds(value);
    if (failed.are_all_equal()) measure.failure = *failed.ends.begin();
    if (measure.reason.empty() && !measure.value) measure.reason = not_a_number(text_of(value));
    if (measure.name == "time" && measure.value && *measure.value <= 0) measure.reason = no_time;
    if (!problem.empty() || !measure.reason.empty()) mark_absent(measure, problem.empty() ? measure.reason : problem);
    to.measures.push_back(std::move(measure));
  };
  Measure time = hyperfine_time(subject, "time");
  for (const Json& value : one.value("times", Json::array())) {
    const auto number = nanoseconds(value);
    if (number) time.runs.push_back(*number);
    if (!number) time.reason = not_a_number(text_of(value));
  }
  to.runs = std::max(to.runs, time.runs.size());
  if (!time.runs.empty()) time.value = stats::wide_median(time.runs);
  add(std::move(time), one.at("median"));
  for (const char* const name : {"user", "system"})
    if (const auto mean = one.find(name); mean != one.end()) add(hyperfine_time(subject, name), *mean);
  if (failed.failed > 0)
    to.note += fmt::format("{}{}{}", to.note.empty() ? "" : "; ", subject.empty() ? "" : subject + ": ", failed.text());
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

// pytest-benchmark --benchmark-json: times of rounds in seconds.

/// The rounds of one process depend on each other: medians of this many parts are compared.
constexpr std::size_t most_parts = 20;

std::vector<Value> medians_of_parts(const std::vector<Value>& values) {
  if (values.size() <= most_parts) return values;
  std::vector<Value> medians;
  for (std::size_t part = 0; part < most_parts; ++part) {
    const auto at = [&](std::size_t i) {
      return values.begin() + static_cast<std::ptrdiff_t>(values.size() * i / most_parts);
    };
    medians.push_back(stats::wide_median({at(part), at(part + 1)}));
  }
  return medians;
}

Measure timed(const std::string& subject, const char* how_to_repeat) {
  Measure measure{.subject = subject, .name = "time", .trust = Trust::counted};
  measure.is_fraction = true;
  measure.fraction_unit = "ns";
  measure.how_to_repeat = how_to_repeat;
  return measure;
}

Measure pytest_time(const Json& benchmark, const std::string& subject) {
  Measure time = timed(subject, "the rounds of both sides: --benchmark-json stores them, --benchmark-save does not");
  const Json& stats = benchmark.at("stats");
  std::vector<Value> rounds;
  for (const Json& value : stats.value("data", Json::array({stats.at("median")}))) {
    if (value.is_number())
      rounds.push_back(static_cast<Value>(value.get<double>()) * 1e9L);
    else
      time.reason = not_a_number(text_of(value));
  }
  if (rounds.empty() && time.reason.empty()) time.reason = "it has no rounds";
  if (!time.reason.empty()) {
    mark_absent(time, time.reason);
    return time;
  }
  time.value = stats::wide_median(rounds);
  if (*time.value <= 0)
    mark_absent(time, no_time);
  else if (rounds.size() > 1)
    time.runs = medians_of_parts(rounds);
  return time;
}

Comparable pytest_benchmark(const Json& json) {
  Comparable comparable;
  comparable.target = "pytest-benchmark";
  const Json& machine = json.at("machine_info");
  if (const auto cpu = machine.find("cpu"); cpu != machine.end() && cpu->is_object())
    comparable.environment.cpu = result::text(*cpu, "brand_raw");
  std::map<std::string, std::size_t> places;
  for (const Json& benchmark : json.at("benchmarks")) {
    const std::string subject = result::text(benchmark, benchmark.contains("fullname") ? "fullname" : "name");
    const auto [place, is_new] = places.try_emplace(subject, comparable.measures.size());
    if (is_new) {
      comparable.measures.push_back(pytest_time(benchmark, subject));
      comparable.runs = std::max(comparable.runs, comparable.measures.back().runs.size());
    } else {
      mark_absent(comparable.measures[place->second], "several benchmarks have this name");
    }
  }
  return comparable;
}

// Criterion: target/criterion/NAME/new/estimates.json, times of an iteration in nanoseconds.

Comparable criterion(const Json& json) {
  Comparable comparable;
  comparable.target = "Criterion";
  const auto slope = json.find("slope");  // Criterion's own estimate, unless every sample had as many iterations
  const Json& estimate = slope != json.end() && slope->is_object() ? *slope : json.at("mean");
  Measure time = timed("", "a longer measurement: --measurement-time");
  const Json& interval = estimate.at("confidence_interval");
  const Json *const low = &interval.at("lower_bound"), *const high = &interval.at("upper_bound"),
                    *const value = &estimate.at("point_estimate");
  for (const Json* const one : {value, low, high})
    if (!one->is_number() && time.reason.empty()) mark_absent(time, not_a_number(text_of(*one)));
  if (interval.value("confidence_level", 0.95) != 0.95)
    mark_absent(time, "its interval is not one of 95 %: run it without --confidence-level");
  if (time.reason.empty()) {
    time.value = value->get<double>();
    time.interval = ValueInterval{low->get<double>(), high->get<double>()};
  }
  comparable.measures.push_back(std::move(time));
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
  if (!json.is_object() || !json.contains("results") || !json["results"].is_array()) return false;
  if (json["results"].empty()) return json.size() == 1;
  const Json& first = json["results"][0];
  return first.is_object() && first.contains("command") && first.contains("mean");
}

Result<Comparable> read_hyperfine(std::string_view text, const std::string& name) {
  return read_json(text, name, "hyperfine", hyperfine);
}

bool is_pytest_benchmark(std::string_view text) {
  const Json json = object_of(text);
  if (json.is_discarded()) return has_first_key(text, "machine_info");
  return json.is_object() && json.contains("machine_info") && json.contains("benchmarks");
}

Result<Comparable> read_pytest_benchmark(std::string_view text, const std::string& name) {
  return read_json(text, name, "pytest-benchmark", pytest_benchmark);
}

bool is_criterion(std::string_view text) {
  const Json json = object_of(text);
  if (json.is_discarded()) return has_first_key(text, "mean");
  return json.is_object() && json.contains("mean") && json.contains("median_abs_dev");
}

Result<Comparable> read_criterion(std::string_view text, const std::string& name) {
  return read_json(text, name, "Criterion", criterion);
}

}  // namespace tally::output
