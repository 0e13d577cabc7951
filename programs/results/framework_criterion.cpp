// Criterion: with --profile-time it runs the loop 1, 2, 4, … times, until these take a second of the counted clock.
// Each loop is between calls of Instant::now() and Instant::elapsed().
#include <algorithm>

#include "programs/results/bench_framework.hpp"
#include "tally/core/base/text.hpp"

namespace tally::results {
namespace {

class Criterion : public Framework {
 public:
  Criterion() {
    name = "criterion";
    own_processes = 1;        // gnuplot --version
    own_sources = {{"pid"}};  // Rust's run-time library
  }
  std::vector<std::string> list_arguments() const override { return {"--bench", "--list"}; }
  // "NAME: bench", since Criterion 0.4 "NAME: benchmark".
  std::vector<std::string> benchmarks_in(const std::string& output) const override {
    std::vector<std::string> names;
    for (const std::string& line : split(output, '\n'))
      for (const std::string_view ending : {": bench", ": benchmark"})
        if (line.ends_with(ending)) names.push_back(line.substr(0, line.size() - ending.size()));
    return names;
  }
  // Names of the two ways in which rustc writes them.
  Result<std::vector<std::vector<std::string>>> stat_options(const std::string& program) const override {
    const std::vector<std::string> functions = functions_of(program);
    for (const std::string type : {"<std::time::Instant>", "std::time::Instant"})
      if (std::ranges::find(functions, type + "::now") != functions.end())
        return std::vector<std::vector<std::string>>{{"--from", type + "::now", "--to", type + "::elapsed"}};
    return fail(Code::cannot_measure, "the program has no function std::time::Instant::now",
                "name the program that `cargo bench --no-run` prints, not cargo, and do not strip it");
  }
  std::vector<std::string> run_arguments(const std::string& listed, const std::string&,
                                         const LoopLength&) const override {
    return {"--bench", "--profile-time", "1", exact_pattern(listed)};
  }
  Result<TimedLoop> timed_loop(const BenchmarkRun& run) const override {
    const RegionCounts* const counts = entered_region(run.regions);
    if (counts == nullptr) return TimedLoop{};
    // Bencher::iter() reads the clock twice before its loop. Batches do so before the first of several only.
    constexpr std::uint64_t most = 40;
    if (counts->dropped != counts->entries || counts->entries > most)
      return fail(Code::cannot_measure, "the benchmark has several timed loops for each measurement",
                  "write it with iter(): tally cannot count iter_batched()");
    const std::int64_t largest = std::int64_t{1} << (counts->entries - 1);
    return TimedLoop{counts, largest, 2 * largest - 1};
  }
};

}  // namespace

const Framework& criterion() {
  static const Criterion framework;
  return framework;
}

}  // namespace tally::results
