/// Signals of POSIX timers that are pending in the engine. The kernel considers them delivered. So the engine removes
/// the signal when the timer is deleted, and counts its overruns.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// Whether a siginfo belongs to this timer.
bool is_of_timer(const u8* info, u64 timer);

/// Whether deleting or setting a timer discards its pending signals: since Linux 6.13.
bool timers_take_signals_back();
/// Marks a siginfo as taken back: it stays pending, but is not delivered when it is taken, as in the kernel.
void mark_taken_back(u8* info);
bool is_taken_back(const u8* info);

/// Counts an overrun if `info` arrived while `pending` was pending and both belong to one timer.
void add_overruns(u8* pending, const u8* info);
/// Called when the program receives this signal. If a timer sent it, its overruns become the result of
/// timer_getoverrun(2) until the timer is set or deleted.
void note_overruns(const u8* info);
s64 last_overruns(u64 timer, s64 of_kernel);
void forget_overruns(u64 timer);
void forget_all_overruns();

}  // namespace tally::engine::guest
