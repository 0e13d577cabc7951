// How many instructions does a loop execute? Counts a factorial with five instructions per iteration exactly.
//
//     g++ -std=c++20 -O2 factorial.cpp -ltally -o factorial
//     ./factorial                        on a machine with a PMU
//     tally stat -q -- ./factorial       on x86-64 anywhere
//
// The count may exceed the formula by one or two: the compiler loads N into a register inside the region.
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <tally/tally.hpp>

// 5 (N − 1) instructions in iterations, 2 in the final comparison, and 1 before the loop.
static std::uint64_t factorial(std::int64_t n) {
  std::uint64_t product;
#if defined(__x86_64__)
  asm volatile(
      "mov $1, %1\n"
      "1: cmp $1, %0\n"
      "jle 2f\n"
      "imul %0, %1\n"
      "dec %0\n"
      "jmp 1b\n"
      "2:\n"
      : "+r"(n), "=&r"(product)
      :
      : "cc");
#elif defined(__aarch64__)
  asm volatile(
      "mov %1, #1\n"
      "1: cmp %0, #1\n"
      "b.le 2f\n"
      "mul %1, %1, %0\n"
      "sub %0, %0, #1\n"
      "b 1b\n"
      "2:\n"
      : "+r"(n), "=&r"(product)
      :
      : "cc");
#endif
  return product;
}

int main() {
  auto counters = tally::Counters::open({"instructions"});
  if (!counters) return std::puts(counters.error().message.c_str()), 1;
  for (const int n : {1, 2, 20, 1000}) {
    const std::string name = std::to_string(n);
    for (int i = 0; i < 10; ++i) {
      const tally::Region region{*counters, name};
      factorial(n);
    }
    const tally::RegionEvent instructions = counters->regions().back().all.events[0];
    std::printf("%4d!  5 N - 2 = %4d, counted %4lld to %lld (%s)\n", n, 5 * n - 2, (long long)*instructions.least,
                (long long)*instructions.most, std::string(tally::name(instructions.total.trust)).c_str());
  }
}
