#include "tally/linux/time_stamp.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "tally/linux/cpuid.hpp"
#include "tally/linux/spawn.hpp"

namespace tally::linux {

Moment this_moment() {
  Moment moment{now(), std::nullopt};
#if defined(__x86_64__)
  // RDTSC may be executed ahead of what stands before it; behind LFENCE it is not (Intel SDM vol. 2B, RDTSC).
  _mm_lfence();
  moment.ticks = __rdtsc();
#endif
  return moment;
}

bool time_stamp_is_invariant() {
  const auto highest = cpuid(0x8000'0000);
  if (!highest || highest->eax < 0x8000'0007) return false;
  return ((cpuid(0x8000'0007)->edx >> 8) & 1) != 0;
}

std::optional<std::uint64_t> measured_time_stamp_hertz() {
  const Moment start = this_moment();
  if (!start.ticks) return std::nullopt;
  Moment end = start;
  while (end.time - start.time < std::chrono::milliseconds(10)) end = this_moment();
  const double seconds = std::chrono::duration<double>(end.time - start.time).count();
  return static_cast<std::uint64_t>(static_cast<double>(*end.ticks - *start.ticks) / seconds);
}

}  // namespace tally::linux
