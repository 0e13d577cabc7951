// Catch2: a test case has benchmarks, which it runs by itself only. Before the sample of a benchmark, the loop runs 1,
// 2, 4, … times, until these take long enough. Each loop is in a call of BenchmarkFunction::model<…>::call().
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "programs/results/bench_framework.hpp"
#include "tally/core/base/text.hpp"

namespace tally::results {
namespace {

constexpr std::size_t most_functions = 16;  // of one run

// The beginning of an element of XML, from its name on.
std::string attribute_of(std::string_view element, const std::string& name) {
  const std::string begin = " " + name + "=\"";
  const std::size_t at = element.find(begin);
  if (at == std::string_view::npos) return "";
  std::string value(element.substr(at + begin.size(), element.find('"', at + begin.size()) - at - begin.size()));
  for (const auto& [text, character] : {std::pair{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}})
    for (std::size_t start = value.find(text); start != std::string::npos; start = value.find(text, start + 1))
      value.replace(start, std::string_view(text).size(), 1, character);
  return value;
}

struct Reported {
  std::string test, name;
  std::int64_t iterations = 0;  ///< of its sample
};

std::vector<Reported> reported_in(std::string_view xml) {
  std::vector<Reported> all;
  std::string test;
  for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at + 1)) {
    const std::string_view element = xml.substr(at, xml.find('<', at + 1) - at);  // attributes may contain '>'
    if (element.starts_with("<TestCase ")) test = attribute_of(element, "name");
    if (!element.starts_with("<BenchmarkResults ")) continue;
    Reported benchmark{test, attribute_of(element, "name")};
    const std::string number = attribute_of(element, "iterations");
    std::from_chars(number.data(), number.data() + number.size(), benchmark.iterations);
    all.push_back(std::move(benchmark));
  }
  return all;
}

std::vector<std::string> sample_arguments(const std::string& report) {
  std::vector<std::string> words{
      "--benchmark-samples", "1", "--benchmark-warmup-time", "20", "--benchmark-no-analysis", "-r", "xml"};
  if (!report.empty()) words.insert(words.end(), {"-o", report});
  return words;
}

// Whether a function ran this number of times in its sample, as far as its counts say. `largest`: of its entries.
bool has_sample_of(const Reported& benchmark, const RegionCounts& counts, std::int64_t largest) {
  const RegionEvent& event = counts.events.front();
  if (largest < 2 || !event.total.value || !event.least || !event.most) return false;
  const auto least = static_cast<double>(*event.least);
  const double each = (static_cast<double>(*event.most) - least) / static_cast<double>(largest - 1);
  const double in_all =
      (static_cast<double>(*event.total.value) - static_cast<double>(counts.entries) * (least - each)) / each;
  const auto wanted = static_cast<double>(benchmark.iterations);
  return std::fabs(in_all - static_cast<double>(2 * largest - 1) - wanted) <= std::max(0.5, wanted / 10);
}

class Catch2 : public Framework {
 public:
  Catch2() {
    name = "catch2";
    clock = "real";
    own_sources = {{"clock"}};
    ambiguous = "the test case has several benchmarks, which tally cannot distinguish";
  }
  std::vector<std::string> list_arguments() const override { return sample_arguments(""); }
  std::vector<std::string> benchmarks_in(const std::string& output) const override {
    std::vector<std::string> names;
    for (const Reported& benchmark : reported_in(output)) names.push_back(benchmark.test + "\n" + benchmark.name);
    return names;
  }
  Result<std::vector<std::vector<std::string>>> stat_options(const std::string& program) const override {
    std::vector<std::vector<std::string>> runs;
    std::size_t functions = 0;
    for (const std::string& function : functions_of(program)) {
      const std::string_view scope = "Catch::Benchmark::Detail::BenchmarkFunction::model<";
      if (!function.starts_with(scope) || !function.ends_with(">::call(Catch::Benchmark::Chronometer) const")) continue;
      if (function.substr(scope.size()).starts_with("Catch::")) continue;
      if (functions++ % most_functions == 0) runs.emplace_back();
      runs.back().insert(runs.back().end(), {"--function", function});
    }
    if (!runs.empty()) return runs;
    return fail(Code::cannot_measure, "the program has no functions of Catch2's benchmarks",
                "name the program itself, and do not strip it");
  }
  std::vector<std::string> run_arguments(const std::string& listed, const std::string& report,
                                         const LoopLength&) const override {
    std::string test = listed.substr(0, listed.find('\n'));
    if (test.find('"') == std::string::npos) {
      test = "\"" + test + "\"";
    } else {
      for (std::size_t at = 0; at < test.size(); ++at)
        if (std::string_view("\\,[\"").find(test[at]) != std::string_view::npos) test.insert(at++, 1, '\\');
    }
    std::vector<std::string> words{std::move(test)};
    for (std::string& word : sample_arguments(report)) words.push_back(std::move(word));
    return words;
  }
  Result<TimedLoop> timed_loop(const BenchmarkRun& run) const override {
    const std::vector<Reported> reported = reported_in(run.report);
    const auto benchmark = std::ranges::find_if(
        reported, [&](const Reported& other) { return other.test + "\n" + other.name == run.listed; });
    if (benchmark == reported.end()) return fail(Code::cannot_measure, "the program wrote no result of the benchmark");
    std::vector<TimedLoop> loops;
    for (const RegionResult& region : run.regions) {
      constexpr std::uint64_t most = 40;
      if (region.all.entries < 2 || region.all.entries > most) continue;
      const std::int64_t largest = std::int64_t{1} << (region.all.entries - 2);
      // The benchmarks of a test case differ in the iterations of their samples.
      const auto fits = [&](const Reported& other) { return has_sample_of(other, region.all, largest); };
      if (reported.size() == 1 || (fits(*benchmark) && std::ranges::count_if(reported, fits) == 1))
        loops.push_back({&region.all, largest, 2 * largest - 1 + benchmark->iterations});
    }
    if (loops.size() == 1) return loops.front();
    if (reported.size() < 2) return TimedLoop{};
    return fail(Code::cannot_measure, std::string(ambiguous), "write each BENCHMARK in a TEST_CASE of its own");
  }
};

}  // namespace

const Framework& catch2() {
  static const Catch2 framework;
  return framework;
}

}  // namespace tally::results
