/// Waits of a program whose clock is counted (counted_clock.hpp). They take real time: absolute deadlines are converted
/// to the kernel's clocks, and a wait that times out advances the counted clock by its length.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Makes the system call `number` of the thread by `call`, and reads or advances its clock as needed.
s64 make_call_with_counted_clock(Thread* t, u32 number, s64 (*call)(Thread* t, u32 number));
/// In the child of a fork, which has no other thread.
void waits_after_fork();
/// Releases the lock of a thread that was killed.
void release_waits_for_dead(u32 holder);
/// The thread receives this signal: if a timer sent it, the clock has reached the timer's time.
void note_timer_signal(Thread* t, const u8* info);

}  // namespace tally::engine::guest
