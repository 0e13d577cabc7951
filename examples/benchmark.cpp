// google-benchmark: the exact instructions of an iteration, next to its time.
//
//     g++ -std=c++17 -O2 benchmark.cpp -ltally -lbenchmark -lbenchmark_main -o sums && tally stat -- ./sums
#include <numeric>
#include <tally/benchmark.hpp>
#include <vector>

namespace {

void sum(benchmark::State& state) {
  const std::vector<int> numbers(static_cast<std::size_t>(state.range(0)), 2);
  const auto iteration = [&] { benchmark::DoNotOptimize(std::accumulate(numbers.begin(), numbers.end(), 0LL)); };
  for (auto _ : state) iteration();
  tally::report_iteration(state, "instructions,loads", iteration);
}
BENCHMARK(sum)->Arg(1000)->Arg(2000)->Arg(3000)->MinTime(0.01);

}  // namespace
