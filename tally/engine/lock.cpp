// Waiting for a lock that another thread holds: spin briefly, then sleep. The lock of a dead holder is taken over.
#include <linux/futex.h>

#include "tally/engine/sharing.hpp"

namespace tally::engine {

void (*Lock::on_long_wait)(const Lock&);

void Lock::wait() {
  // Most critical sections are shorter than going to sleep.
  constexpr u32 spin_limit = 100;
  for (u32 spins = 0; spins < spin_limit; spins++) {
    __builtin_ia32_pause();
    if (__atomic_load_n(&word_, __ATOMIC_RELAXED) == 0 && try_take()) return;
  }
  constexpr u64 shortest_ns = 2'000'000, longest_ns = 64'000'000;
  for (u64 pause_ns = shortest_ns;;) {
    const auto on_wait = __atomic_load_n(&on_long_wait, __ATOMIC_RELAXED);
    u32 word = __atomic_load_n(&word_, __ATOMIC_RELAXED);
    if (word == 0) {
      // This thread was asleep, and others may still be.
      if (__atomic_compare_exchange_n(&word_, &word, own_lock_id() | wanted, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
      continue;
    }
    if (take_over(word, own_lock_id() | wanted)) return;
    if (!(word & wanted) &&
        !__atomic_compare_exchange_n(&word_, &word, word | wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    // Sleep for a limited time: the holder may be killed, and so may a thread that was woken instead of this one.
    const u64 pause[2] = {0, pause_ns};
    const s64 r = kernel(SYS_futex, reinterpret_cast<u64>(&word_), FUTEX_WAIT_PRIVATE, word | wanted,
                         reinterpret_cast<u64>(pause));
    constexpr s64 timed_out = -ETIMEDOUT;
    if (r != timed_out) continue;
    if (on_wait != nullptr)
      on_wait(*this);
    else if (pause_ns < longest_ns && !memory_is_shared())
      pause_ns *= 2;
  }
}

/// If the holder in `word` is dead, sets the word to `with` and repairs the data. Returns whether it did.
bool Lock::take_over(u32 word, u32 with) {
  if (!memory_is_shared() || !has_died(word & ~wanted)) return false;
  if (!__atomic_compare_exchange_n(&word_, &word, with, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return false;
  note_dead_holder();
  if (repair_ != nullptr) repair_();
  return true;
}

void Lock::release_for_dead(u32 holder) {
  u32 word = __atomic_load_n(&word_, __ATOMIC_RELAXED);
  while ((word & ~wanted) == holder) {
    if (!__atomic_compare_exchange_n(&word_, &word, own_lock_id() | wanted, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    note_dead_holder();
    if (repair_ != nullptr) repair_();
    return release();
  }
}

void Lock::wake() { kernel(SYS_futex, reinterpret_cast<u64>(&word_), FUTEX_WAKE_PRIVATE, 1); }

}  // namespace tally::engine
