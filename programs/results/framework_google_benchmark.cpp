// google-benchmark: the timed loop is between two functions of its library, and a JSON file has the iterations.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "programs/results/bench_framework.hpp"
#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::results {
namespace {

// How often the last timed loop, the largest one, ran in each thread.
Result<std::int64_t> iterations_in(std::string_view text) {
  const auto json = parse_json_or_discard<nlohmann::ordered_json>(text);
  const auto refuse = [](std::string why) { return fail(Code::cannot_measure, std::move(why)); };
  if (!json.is_object() || !json.contains("benchmarks") || !json["benchmarks"].is_array() || json["benchmarks"].empty())
    return refuse("the program wrote no result of the benchmark");
  const auto& run = json["benchmarks"].front();
  if (!run.is_object()) return refuse("the program wrote no result of the benchmark");
  for (const char* const key : {"error_message", "skip_message"})
    if (run.contains(key) && run[key].is_string())
      return refuse("the benchmark was not run: " + run[key].get<std::string>());
  const auto number_of = [&](const char* key) {
    return run.contains(key) && run[key].is_number_integer() ? run[key].get<std::int64_t>() : 0;
  };
  const std::int64_t iterations = number_of("iterations") / std::max<std::int64_t>(1, number_of("threads"));
  if (iterations < 1) return refuse("the program wrote no number of iterations");
  return iterations;
}

class GoogleBenchmark : public Framework {
 public:
  GoogleBenchmark() { name = "google-benchmark"; }
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
  std::vector<std::string> run_arguments(const std::string& listed, const std::string& report) const override {
    std::vector<std::string> words{"--benchmark_filter=" + exact_pattern(listed), "--benchmark_min_time=0.001"};
    if (!report.empty()) words.insert(words.end(), {"--benchmark_out=" + report, "--benchmark_out_format=json"});
    return words;
  }
  Result<TimedLoop> timed_loop(const BenchmarkRun& run) const override {
    const auto iterations = iterations_in(run.report);
    if (!iterations) return fail(iterations.error());
    return TimedLoop{entered_region(run.regions), *iterations};
  }
};

}  // namespace

const Framework& google_benchmark() {
  static const GoogleBenchmark framework;
  return framework;
}

}  // namespace tally::results
