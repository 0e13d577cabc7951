// A lock that another thread holds: a moment's patience, then sleep. A dead holder's lock is taken over.
#include <linux/futex.h>

#include "tally/engine/sharing.hpp"

namespace tally::engine {

void (*Lock::on_long_wait)(const Lock&);

void Lock::wait() {
  // Most of what is done under a lock takes less time than going to sleep.
  constexpr u32 patience = 100;
  for (u32 spins = 0; spins < patience; spins++) {
    __builtin_ia32_pause();
    if (__atomic_load_n(&word_, __ATOMIC_RELAXED) == 0 && try_take()) return;
  }
  constexpr u64 shortest_ns = 2'000'000, longest_ns = 64'000'000;
  for (u64 pause_ns = shortest_ns;;) {
    const auto on_wait = __atomic_load_n(&on_long_wait, __ATOMIC_RELAXED);
    u32 word = __atomic_load_n(&word_, __ATOMIC_RELAXED);
    if (word == 0) {
      // Who was asleep does not know whether others still are.
      if (__atomic_compare_exchange_n(&word_, &word, own_lock_id() | wanted, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
      continue;
    }
    if (take_over(word, own_lock_id() | wanted)) return;
    if (!(word & wanted) &&
        !__atomic_compare_exchange_n(&word_, &word, word | wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    // Not for ever: the holder may be killed, and so may be who was woken in this thread's place.
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

/// The lock is `with`'s where `word`'s holder is dead.
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
