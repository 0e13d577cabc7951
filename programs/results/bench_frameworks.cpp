#include "programs/results/bench_frameworks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/process/tool.hpp"

namespace tally::results {
namespace {

constexpr Framework frameworks[] = {
    {"google-benchmark", "--benchmark_list_tests=true", "benchmark::State::StartKeepRunning",
     "benchmark::State::FinishKeepRunning", "Failed to match any benchmarks"},
};

// A regular expression that only this text matches.
std::string exact_pattern(std::string_view text) {
  std::string pattern = "^";
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

// How often a timed loop ran in each thread.
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

// The counts of the largest entry of the region, the last one: the loops before it find the number of iterations.
const RegionCounts* loop_of(const result::Run& run) {
  for (const result::ProgramRegions& program : run.regions)
    for (const RegionResult& region : program.regions)
      if (region.all.entries > 0) return &region.all;
  return nullptr;
}

std::optional<Count> count_of(const RegionCounts& loop, const EventName& name, std::int64_t iterations) {
  const auto event = std::ranges::find(loop.events, name, &RegionEvent::event);
  if (event == loop.events.end()) return std::nullopt;
  Count count = event->total;
  if (count.value && event->most)
    count.value = (*event->most * counted_iterations + iterations / 2) / iterations;
  else
    count.value.reset();
  return count;
}

}  // namespace

const Framework* framework_named(std::string_view name) {
  const auto* const framework = std::ranges::find(frameworks, name, &Framework::name);
  return framework == std::end(frameworks) ? nullptr : framework;
}

std::string framework_names() {
  std::vector<std::string> names;
  for (const Framework& framework : frameworks) names.emplace_back(framework.name);
  return join(names, ", ");
}

Result<std::vector<Benchmark>> list_benchmarks(std::vector<Benchmark> suite, const std::string& folder) {
  std::vector<Benchmark> all;
  for (Benchmark& entry : suite) {
    if (entry.framework == nullptr) {
      all.push_back(std::move(entry));
      continue;
    }
    std::vector<std::string> words{"env", "-C", (std::filesystem::path(folder) / entry.directory).string()};
    words.insert(words.end(), entry.command.begin(), entry.command.end());
    words.emplace_back(entry.framework->list_argument);
    const auto listed = linux::run_tool(words);
    if (!listed) return fail(listed.error());
    const std::size_t before = all.size();
    for (const std::string& line : split(listed->output, '\n')) {
      if (listed->exit_code != 0 || trimmed(line).empty() || line.starts_with(entry.framework->no_match)) continue;
      Benchmark benchmark = entry;
      benchmark.entry = entry.name;
      benchmark.listed = trimmed(line);
      benchmark.name = entry.name + "." + benchmark.listed;
      std::ranges::replace(benchmark.name, '/', '.');
      all.push_back(std::move(benchmark));
    }
    if (all.size() == before)
      return fail(Code::bad_usage,
                  fmt::format("benchmark '{}': the program lists no benchmarks of {} (exit code {})",
                              printable(entry.name), entry.framework->name, listed->exit_code),
                  fmt::format("try: {}", printable(shell_words({words.begin() + 3, words.end()}))));
  }
  for (auto benchmark = all.begin(); benchmark != all.end(); ++benchmark)
    if (std::find_if(all.begin(), benchmark, [&](const Benchmark& other) { return other.name == benchmark->name; }) !=
        benchmark)
      return fail(Code::bad_usage, fmt::format("two benchmarks are called '{}'", printable(benchmark->name)),
                  "use another name for one of them");
  return all;
}

std::vector<std::string> loop_options(const Benchmark& benchmark) {
  if (benchmark.framework == nullptr) return {};
  return {"--from", std::string(benchmark.framework->loop_begin), "--to", std::string(benchmark.framework->loop_end)};
}

std::vector<std::string> loop_arguments(const Benchmark& benchmark, const std::string& file) {
  if (benchmark.framework == nullptr) return {};
  std::vector<std::string> words{"--benchmark_filter=" + exact_pattern(benchmark.listed), "--benchmark_min_time=0.001"};
  if (!file.empty()) words.insert(words.end(), {"--benchmark_out=" + file, "--benchmark_out_format=json"});
  return words;
}

Result<void> keep_iterations(result::Stat& stat, const Benchmark& benchmark, std::string_view iterations) {
  const auto number = iterations_in(iterations);
  if (!number) return fail(number.error());
  const RegionCounts* const loop = stat.runs.empty() ? nullptr : loop_of(stat.runs.front());
  if (loop == nullptr)
    return fail(
        Code::cannot_measure, "the program did not reach its timed loop",
        fmt::format("tally counts between {} and {}", benchmark.framework->loop_begin, benchmark.framework->loop_end));
  std::erase_if(stat.events, [&](result::Event& event) {
    const auto count = count_of(*loop, event.total.name, *number);
    if (count) event.total.count = *count;
    event.summary.reset();
    return !count;
  });
  result::Run& run = stat.runs.front();
  run.counts.clear();
  for (const result::Event& event : stat.events) run.counts.push_back(event.total);
  run.regions.clear();
  run.processes.clear();
  stat.metrics.clear();
  stat.of_parts = false;
  stat.command = benchmark.command;
  for (std::string& word : loop_arguments(benchmark, "")) stat.command.push_back(std::move(word));
  stat.notices.push_back(
      fmt::format("counts of 1,000 iterations of the timed loop, from {}", plural(*number, "iteration", "iterations")));
  return {};
}

}  // namespace tally::results
