// google-benchmark: the timed loop is between two functions of its library, and a JSON file has the iterations.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "programs/results/bench_framework.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::results {
namespace {

class GoogleBenchmark : public Framework {
 public:
  GoogleBenchmark() {
    name = "google-benchmark";
    measures_differences = true;
    own_sources = {{"/proc", 1}};  // the frequency of the first CPU; other files, and the clock, have fixed answers
  }
  std::vector<std::string> list_arguments() const override { return {"--benchmark_list_tests=true"}; }
  std::vector<std::string> benchmarks_in(const std::string& output) const override {
    std::vector<std::string> names;
    for (const std::string& line : split(output, '\n'))
      if (!trimmed(line).empty() && !line.starts_with("Failed to match any benchmarks")) names.push_back(trimmed(line));
    return names;
  }
  Result<std::vector<std::vector<std::string>>> stat_options(const std::string&) const override {
    return std::vector<std::vector<std::string>>{
        {"--from", "benchmark::State::StartKeepRunning", "--to", "benchmark::State::FinishKeepRunning"}};
  }
  std::vector<std::string> run_arguments(const std::string& listed, const std::string& report,
                                         const LoopLength& length) const override {
    // Of the same number of characters in each run, because the stack begins below them.
    std::vector<std::string> words{"--benchmark_filter=" + exact_pattern(listed),
                                   fmt::format("--benchmark_min_time={:014.9f}", length.seconds),
                                   fmt::format("--benchmark_repetitions={}", length.repetitions)};
    if (!report.empty()) words.insert(words.end(), {"--benchmark_out=" + report, "--benchmark_out_format=json"});
    return words;
  }
  Result<LoopReport> read_report(std::string_view text) const override {
    const auto json = parse_json_or_discard<nlohmann::ordered_json>(text);
    const auto refuse = [](std::string why) { return fail(Code::cannot_measure, std::move(why)); };
    LoopReport report{.repetitions = 0};
    bool has_aggregates = false;
    if (json.is_object() && json.contains("benchmarks") && json["benchmarks"].is_array())
      for (const auto& run : json["benchmarks"]) {
        if (!run.is_object()) continue;
        for (const char* const key : {"error_message", "skip_message"})
          if (run.contains(key) && run[key].is_string())
            return refuse("the benchmark was not run: " + run[key].get<std::string>());
        const auto number_of = [&](const char* key) {
          return run.contains(key) && run[key].is_number() ? run[key].get<double>() : 0;
        };
        const auto text_of = [&](const char* key) {
          return run.contains(key) && run[key].is_string() ? run[key].get<std::string>() : std::string();
        };
        has_aggregates = has_aggregates || text_of("run_type") == "aggregate";
        if (text_of("run_type") == "aggregate") continue;
        const double iterations = number_of("iterations");
        if (iterations < 1) return refuse("the program wrote no number of iterations");
        const std::string unit = text_of("time_unit");
        const double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9;
        report.threads = static_cast<int>(std::max(1.0, number_of("threads")));
        report.iterations = static_cast<std::int64_t>(iterations);
        report.all_iterations += report.iterations;
        if (report.repetitions++ == 0)
          report.first_seconds = iterations * scale * std::max(number_of("real_time"), number_of("cpu_time"));
      }
    if (report.repetitions == 0 && has_aggregates)
      return refuse("the program wrote only aggregates: remove ReportAggregatesOnly() or its option");
    if (report.repetitions == 0) return refuse("the program wrote no result of the benchmark");
    return report;
  }
};

}  // namespace

const Framework& google_benchmark() {
  static const GoogleBenchmark framework;
  return framework;
}

}  // namespace tally::results
