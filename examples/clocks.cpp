// What advances while a program sleeps? Clocks do; counts of the program's work do not.
//
//     g++ -std=c++20 -O2 clocks.cpp -ltally -o clocks
//     TALLY_EVENTS=instructions,cycles,ref-cycles ./clocks         on a machine with a PMU
//     TALLY_EVENTS=instructions tally stat -q -- ./clocks           on x86-64 anywhere
//
// The coarse clock advances only at ticks of the kernel: reading it takes nanoseconds, but it is milliseconds late.
#include <time.h>

#include <cstdio>
#include <string>
#include <tally/tally.hpp>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

static unsigned long long ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

template <class Operation>
void measure(tally::Counters& counters, const char* name, Operation operation) {
  const double exact = seconds(CLOCK_MONOTONIC), coarse = seconds(CLOCK_MONOTONIC_COARSE);
  const unsigned long long tsc = ticks();
  const tally::Values values = counters.measure(operation);
  std::printf("%-6s %8.3f ms, coarse %8.3f ms, %11llu ticks of the tsc", name, 1e3 * (seconds(CLOCK_MONOTONIC) - exact),
              1e3 * (seconds(CLOCK_MONOTONIC_COARSE) - coarse), ticks() - tsc);
  for (const tally::EventValue& one : values.events) {
    std::printf(", %s %s", one.event.text().c_str(),
                one.count.value ? std::to_string(*one.count.value).c_str() : "absent");
  }
  std::puts("");
}

int main() {
  auto counters = tally::Counters::open();
  if (!counters) return std::puts((counters.error().message + "\n" + counters.error().hint).c_str()), 1;
  // The loader resolves a C library function at its first call; this call keeps that out of the counts.
  const timespec none{};
  nanosleep(&none, nullptr);
  measure(*counters, "sleep", [] {
    const timespec time{0, 50'000'000};
    nanosleep(&time, nullptr);
  });
  measure(*counters, "spin", [] {
    for (const double start = seconds(CLOCK_MONOTONIC); seconds(CLOCK_MONOTONIC) < start + 0.05;) {
    }
  });
}
