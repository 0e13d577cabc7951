#include "tally/linux/machine/core_frequency.hpp"

#include <algorithm>

#include "tally/linux/machine/time_stamp.hpp"

namespace tally::linux {

#if defined(__x86_64__) || defined(__aarch64__)
namespace {

constexpr int chain_rounds = 100;
constexpr int chain_additions = 100 * chain_rounds;

Nanoseconds time_chain() {
  int rounds = chain_rounds;
  const Nanoseconds start = raw_time();
#if defined(__x86_64__)
  asm volatile("1: .rept 100\n add %%rcx, %%rax\n .endr\n dec %0\n jnz 1b" : "+r"(rounds) : : "rax", "cc");
#else
  asm volatile("1: .rept 100\n add x9, x9, x10\n .endr\n subs %w0, %w0, #1\n b.ne 1b" : "+r"(rounds) : : "x9", "cc");
#endif
  return raw_time() - start;
}

// The time that reading the clock adds to a chain.
Nanoseconds clock_cost() {
  Nanoseconds least = std::chrono::seconds(1);
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds start = raw_time();
    least = std::min(least, raw_time() - start);
  }
  return least;
}

}  // namespace

std::optional<double> core_hertz(int tries) {
  static const Nanoseconds cost = clock_cost();
  Nanoseconds best = std::chrono::seconds(1);
  for (int i = 0; i < tries; ++i) best = std::min(best, time_chain());
  return chain_additions / std::chrono::duration<double>(best - cost).count();
}
#else
std::optional<double> core_hertz(int) { return std::nullopt; }
#endif

}  // namespace tally::linux
