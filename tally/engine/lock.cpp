// A lock that another thread holds: a moment's patience, then sleep.
#include <linux/futex.h>

#include "tally/engine/base.hpp"

namespace tally::engine {

void (*Lock::on_long_wait)(const Lock&);

void Lock::wait() {
  // Most of what is done under a lock takes less time than going to sleep.
  constexpr u32 patience = 100;
  for (u32 spins = 0; spins < patience; spins++) {
    __builtin_ia32_pause();
    u32 none = 0;
    if (__atomic_load_n(&word_, __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(&word_, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
  }
  const auto on_wait = __atomic_load_n(&on_long_wait, __ATOMIC_RELAXED);
  const u64 a_while[2] = {0, 2'000'000};
  while (__atomic_exchange_n(&word_, wanted, __ATOMIC_ACQUIRE) != 0) {
    const s64 r = kernel(SYS_futex, reinterpret_cast<u64>(&word_), FUTEX_WAIT_PRIVATE, wanted,
                         on_wait != nullptr ? reinterpret_cast<u64>(a_while) : 0);
    constexpr s64 timed_out = -ETIMEDOUT;
    if (r == timed_out) on_wait(*this);
  }
}

void Lock::wake() { kernel(SYS_futex, reinterpret_cast<u64>(&word_), FUTEX_WAKE_PRIVATE, 1); }

}  // namespace tally::engine
