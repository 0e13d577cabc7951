/// A clock that counts instructions (Settings::counts_clock): programs get its time from every clock function, from
/// system calls, and from the time-stamp counter.
///
/// Each thread has a time of its own. It advances by a nanosecond for each instruction, by a microsecond for each read
/// of a clock, and by the length of each wait that timed out. A thread, process or program starts at the time of the
/// one that created it. No thread reads an earlier time than another one of the run has read before, or ended at.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// When a run starts: 2030-01-01 00:00 UTC, later than the times of files, because `make` and others expect these in
/// the past. In ns since 1970, and since the machine was started.
inline constexpr u64 clock_starts_at = 1'893'456'000'000'000'000, clock_booted_before = 10'000'000'000'000;

inline bool clock_is_counted() { return settings().counts_clock != 0; }

/// The thread has its counters: its time starts at that of `creator`, which is the caller; null: at that of the run.
void clock_begins(Thread* t, Thread* creator);
/// The child of a fork has its own counters.
void clock_after_fork(Thread* t);
/// From now on no thread of the run reads an earlier time than this thread's. Its counts are exact.
void publish_clock(Thread* t);

/// Returns the time of a clock in ns, as the thread reads it now; reading takes time. False if the engine does not
/// count that clock: it does not exist, belongs to a device, or measures a process outside the run.
bool read_clock(Thread* t, s32 clock, u64& ns);
/// The same without reading: only for CLOCK_REALTIME, CLOCK_MONOTONIC and others that run always.
bool clock_at(Thread* t, s32 clock, u64& ns);

/// The thread has waited this long; or until this time of the run at least.
void pass_time(Thread* t, u64 ns);
void pass_time_until(Thread* t, u64 ns);
/// The thread's time of the run.
u64 time_of(Thread* t);
/// The instructions that the thread has executed; about those if it is another thread, which runs.
s64 instructions_of(Thread* t);

/// Executes rdtsc or rdtscp. It has not retired yet.
void read_time_stamp(Thread* t);
/// Does what a clock function of the vdso does, with its arguments in the registers, except for its return.
void call_clock_function(Thread* t);
/// Makes a system call that returns times, by its number. False if the kernel must make it.
bool make_clock_call(Thread* t, u32 number, s64& r);

}  // namespace tally::engine::guest
