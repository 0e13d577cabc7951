// pytest: the plugin of the Python package counts the calls of a test, or of what the fixture of pytest-benchmark
// measures, as a region.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "programs/results/bench_framework.hpp"
#include "tally/core/base/text.hpp"

namespace tally::results {
namespace {

constexpr std::string_view plugin = "tally.pytest_plugin";  // also the name of the region

class Pytest : public Framework {
 public:
  Pytest() {
    name = "pytest";
    counted = "one call";
    scale = 1;
    clock = "";
    own_processes = std::numeric_limits<int>::max();  // Python starts some to find libraries
    own_sources = {{"clock"}, {"pid"}, {"/proc"}, {"system state"}};
  }
  std::vector<std::string> list_arguments() const override {
    return {"--collect-only", "-q", "-p", "no:cacheprovider", "-p", std::string(plugin)};
  }
  Error why_unusable(const std::string& output) const override {
    if (output.find("Error importing plugin \"" + std::string(plugin)) == std::string::npos) return {};
    return {Code::bad_usage, fmt::format("pytest cannot import its plugin {}", plugin),
            "add the directory of tally's Python package to PYTHONPATH, or install it (docs/guides/test-frameworks.md)",
            0};
  }
  std::vector<std::string> benchmarks_in(const std::string& output) const override {
    std::vector<std::string> names;
    for (const std::string& line : split(output, '\n'))
      if (const auto at = line.find("::"); at != std::string::npos && line.find(' ') > at)
        names.push_back(trimmed(line));
    return names;
  }
  Result<std::vector<std::vector<std::string>>> stat_options(const std::string&) const override {
    return std::vector<std::vector<std::string>>{{}};
  }
  std::vector<std::string> run_arguments(const std::string& listed, const std::string&,
                                         const LoopLength&) const override {
    return {"-q", "-p", "no:cacheprovider", "-p", std::string(plugin), "--tally-count", listed};
  }
  Result<TimedLoop> timed_loop(const BenchmarkRun& run) const override {
    const auto region = std::ranges::find(run.regions, plugin, &RegionResult::name);
    if (region == run.regions.end() || region->all.entries == 0) return TimedLoop{};
    const bool has_children = std::ranges::any_of(run.regions, [](const RegionResult& other) {
      return other.name == std::string(plugin) + " children" && other.all.entries > 0;
    });
    return TimedLoop{.counts = &region->all, .has_equal_entries = true, .has_children = has_children};
  }
};

}  // namespace

const Framework& pytest() {
  static const Pytest framework;
  return framework;
}

}  // namespace tally::results
