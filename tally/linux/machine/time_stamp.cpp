#include "tally/linux/machine/time_stamp.hpp"

#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "tally/linux/machine/execute_cpuid.hpp"

namespace tally::linux {
namespace {

Nanoseconds time_of_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace

Nanoseconds now() { return time_of_clock(CLOCK_MONOTONIC); }

Nanoseconds time_since_1970() { return time_of_clock(CLOCK_REALTIME); }

Moment this_moment() {
  Moment moment{now(), std::nullopt};
#if defined(__x86_64__)
  // RDTSC may execute before earlier instructions; LFENCE prevents that (Intel SDM vol. 2B, RDTSC).
  _mm_lfence();
  moment.ticks = __rdtsc();
#endif
  return moment;
}

Nanoseconds raw_time() { return time_of_clock(CLOCK_MONOTONIC_RAW); }

bool time_stamp_is_invariant() {
  const auto highest = cpuid(0x8000'0000);
  if (!highest || highest->eax < 0x8000'0007) return false;
  return ((cpuid(0x8000'0007)->edx >> 8) & 1) != 0;
}

}  // namespace tally::linux
