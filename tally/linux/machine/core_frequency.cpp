#include "tally/linux/machine/core_frequency.hpp"

#include <time.h>

#include <algorithm>

#include "tally/linux/machine/time_stamp.hpp"

namespace tally::linux {

#if defined(__x86_64__) || defined(__aarch64__)
namespace {

constexpr int additions = 100;  // of a round
constexpr int chain_rounds = 100;

void add_dependent(long rounds) {
#if defined(__x86_64__)
  asm volatile("1: .rept 100\n add %%rcx, %%rax\n .endr\n dec %0\n jnz 1b" : "+r"(rounds) : : "rax", "cc");
#else
  asm volatile("1: .rept 100\n add x9, x9, x10\n .endr\n subs %0, %0, #1\n b.ne 1b" : "+r"(rounds) : : "x9", "cc");
#endif
}

void add_independent(long rounds) {
#if defined(__x86_64__)
  asm volatile(
      "1: .rept 10\n add %%rcx, %%rax\n add %%rcx, %%rdx\n add %%rcx, %%rsi\n add %%rcx, %%rdi\n add %%rcx, %%r8\n"
      "add %%rcx, %%r9\n add %%rcx, %%r10\n add %%rcx, %%r11\n add %%rcx, %%r14\n add %%rcx, %%r15\n .endr\n"
      "dec %0\n jnz 1b"
      : "+r"(rounds)
      :
      : "rax", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r14", "r15", "cc");
#else
  asm volatile(
      "1: .rept 10\n add x0, x0, x10\n add x1, x1, x10\n add x2, x2, x10\n add x3, x3, x10\n add x4, x4, x10\n"
      "add x5, x5, x10\n add x6, x6, x10\n add x7, x7, x10\n add x8, x8, x10\n add x9, x9, x10\n .endr\n"
      "subs %0, %0, #1\n b.ne 1b"
      : "+r"(rounds)
      :
      : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "cc");
#endif
}

Nanoseconds processor_time() {
  timespec time{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
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

Nanoseconds time_of(void (*add)(long), long rounds) {
  static const Nanoseconds cost = clock_cost();
  const Nanoseconds start = raw_time();
  add(rounds);
  return raw_time() - start - cost;
}

}  // namespace

std::optional<double> core_hertz(int tries) {
  Nanoseconds best = std::chrono::seconds(1);
  for (int i = 0; i < tries; ++i) best = std::min(best, time_of(add_dependent, chain_rounds));
  return chain_rounds * additions / std::chrono::duration<double>(best).count();
}

std::optional<double> charged_hertz(Nanoseconds time) {
  constexpr long rounds = 200L * chain_rounds;  // some 0.5 ms, much longer than reading the clock
  const Nanoseconds start = processor_time();
  Nanoseconds charged{0};
  std::int64_t cycles = 0;
  for (; charged < time; charged = processor_time() - start, cycles += rounds * additions) add_dependent(rounds);
  return static_cast<double>(cycles) / std::chrono::duration<double>(charged).count();
}

std::optional<double> independent_time() {
  constexpr long rounds = 4 * chain_rounds;  // as long as the chain on a core that executes four in a cycle
  const Nanoseconds chain = std::min(time_of(add_dependent, chain_rounds), time_of(add_dependent, chain_rounds));
  return std::chrono::duration<double>(time_of(add_independent, rounds)) / chain * chain_rounds / rounds;
}
#else
std::optional<double> core_hertz(int) { return std::nullopt; }
std::optional<double> charged_hertz(Nanoseconds) { return std::nullopt; }
std::optional<double> independent_time() { return std::nullopt; }
#endif

}  // namespace tally::linux
