// What do strides cost? Reads a whole table in strides of 1, 2, 4 … numbers.
//
//     g++ -std=c++20 -O2 strides.cpp -ltally -o strides
//     ./strides                                                  on a machine with a PMU: hits and misses
//     tally stat -q --model haswell -e LLC-load-misses -- ./strides    on x86-64 anywhere: the same, simulated
//
// Each stride reads the same numbers in a different order, with the same number of instructions but in different times.
// With strides of a cache line (16 numbers) or more, the next number is in the caches only if the table fits.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tally/tally.hpp>
#include <vector>

constexpr std::size_t numbers = std::size_t{4} << 20;

static int walk(const std::vector<int>& table, std::size_t stride) {
  int sum = 0;
  for (std::size_t first = 0; first < stride; ++first) {
    for (std::size_t i = first; i < numbers; i += stride) sum += table[i];
  }
  return sum;
}

int main() {
  const char* const chosen = std::getenv("TALLY_EVENTS");
  auto counters = tally::Counters::open({chosen ? chosen : "instructions,LLC-loads,LLC-load-misses"});
  if (!counters) return std::puts((counters.error().message + "\n" + counters.error().hint).c_str()), 1;
  const std::vector<int> table(numbers, 1);
  int sum = 0;
  for (std::size_t stride = 1; stride <= 4096; stride *= 4) {
    const std::string name = "stride " + std::to_string(stride);
    const auto start = std::chrono::steady_clock::now();
    {
      const tally::Region region{*counters, name};
      sum += walk(table, stride);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    std::printf("%-12s %6.2f GB/s", name.c_str(), static_cast<double>(numbers * sizeof(int)) / time.count() / 1e9);
    const tally::RegionResult result = counters->regions().back();
    for (const tally::RegionEvent& event : result.all.events) {
      const std::string value = event.total.value ? std::to_string(*event.total.value) : "absent";
      std::printf("   %s %s", event.event.text().c_str(), value.c_str());
    }
    std::puts("");
  }
  return sum == 0;
}
