/// Signals of POSIX timers that are pending in the engine. The kernel believes that the program has had them: so a
/// timer that is deleted takes its signal back here, and how often it ran out meanwhile is known here only.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// Whether a siginfo is of this timer.
bool is_of_timer(const u8* info, u64 timer);

/// Whether the pending signals of a timer go when it is deleted or set again: since Linux 6.13.
bool timers_take_signals_back();
/// The siginfo stays pending, and who takes it gets nothing, as the kernel does it.
void mark_taken_back(u8* info);
bool is_taken_back(const u8* info);

/// A signal has come while `pending` was: if both are of one timer, it has run out once more.
void add_overruns(u8* pending, const u8* info);
/// The program has this signal now: if a timer sent it, how often that ran out meanwhile is what timer_getoverrun(2)
/// returns from now on, until the timer is set or deleted.
void note_overruns(const u8* info);
s64 last_overruns(u64 timer, s64 of_kernel);
void forget_overruns(u64 timer);
void forget_all_overruns();

}  // namespace tally::engine::guest
