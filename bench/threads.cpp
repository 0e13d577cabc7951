// Busy threads for the benchmark: `bench_threads N` keeps N processors busy for about half a second, with equal work.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::uint64_t work(std::uint64_t seed) {
  std::uint64_t state = seed;
  for (int i = 0; i < 150'000'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (state >> 62 == 0) state ^= state >> 7;
  }
  return state;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1;
  std::vector<std::uint64_t> results(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&results, i] { results[i] = work(i + 1); });
  }
  for (auto& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (const auto result : results) sum += result;
  std::printf("%llx\n", static_cast<unsigned long long>(sum));
  return 0;
}
