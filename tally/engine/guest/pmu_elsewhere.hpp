/// Threads that a program names by their numbers, and modelled counts of those of other processes. Only its own process
/// can compute what a thread has counted: the thread is asked to, or does so before each system call that waits, once
/// it was asked.
#pragma once
#include "tally/engine/clock.hpp"
#include "tally/engine/guest/pmu_groups.hpp"

namespace tally::engine::guest {

/// A thread that a program names by its number.
struct NamedThread {
  u32 thread;      // index of its record; 0: no thread that the engine counts
  bool is_others;  // of this memory, and not the caller
  s64 error;       // without a thread
};
/// May wait for a process that was just made. Does not need the lock.
NamedThread thread_named(Thread* t, s32 pid);

/// Asks for the counts of a group that are not known, in each round of a wait. The caller holds the lock.
enum class Answers { known, expected, blocked /* by a stop or an earlier system call */ };
Answers ask_for_counts(u32 leader, u32 round);
/// Whether all of them are known, and can be changed.
bool are_known(u32 leader);
/// They were read: the next reader asks again.
void forget_counts(u32 leader);

/// For the threads of this process: counts what others have asked for. They are held, and the caller holds the lock.
void answer_others(const Thread* t);
/// The same for the calling thread before a system call, during which its counts are known. Neither needs the lock.
void count_before_call(const Thread* t);
void continue_after_call(const Thread* t);
/// Whether a system call is made to wait. Others are too many to count before each.
bool may_wait(u32 call);

/// As with_event(), after the threads of other processes had some time to count.
template <class F>
s64 with_known_event(Thread* t, u64 number, F f) {
  constexpr u32 pause_us = 50, most_rounds = 1'000'000 / pause_us, most_if_blocked = 5'000 / pause_us;
  for (u32 round = 0;; round++) {
    bool waits = false;
    const s64 r = with_event(t, number, [&](u32 event) -> s64 {
      const u32 leader = pmu_event(event).leader;
      const Answers answers = ask_for_counts(leader, round);
      waits = answers != Answers::known && round < (answers == Answers::expected ? most_rounds : most_if_blocked);
      if (waits) return 0;
      const s64 result = f(event);
      forget_counts(leader);
      return result;
    });
    if (!waits) return r;
    go_out(t);
    pause_for(pause_us);
    come_in(t);
  }
}

}  // namespace tally::engine::guest
