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

std::optional<std::uint64_t> measured_time_stamp_hertz() {
  // Of several readings, takes the one whose two clocks were read in the shortest time: the thread may have lost the
  // CPU between them.
  const auto close_moment = [] {
    Moment best = this_moment();
    std::uint64_t narrowest = ~0ULL;
    for (int i = 0; i < 10; ++i) {
      const Moment before = this_moment();
      const Moment after = this_moment();
      if (!after.ticks || *after.ticks - *before.ticks >= narrowest) continue;
      narrowest = *after.ticks - *before.ticks;
      best = after;
    }
    return best;
  };
  const Moment start = close_moment();
  if (!start.ticks) return std::nullopt;
  while (now() - start.time < std::chrono::milliseconds(10)) {
  }
  const Moment end = close_moment();
  const double seconds = std::chrono::duration<double>(end.time - start.time).count();
  return static_cast<std::uint64_t>(static_cast<double>(*end.ticks - *start.ticks) / seconds);
}

}  // namespace tally::linux
