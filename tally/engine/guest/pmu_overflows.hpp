/// Events that overflow: whenever a thread has counted a number of them, it stops between two instructions, and they
/// record a sample (pmu_records.hpp).
#pragma once
#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// Whether this process can count down the events of a row.
bool can_overflow(u32 row);
/// Makes the threads of this process count down the events of a row, for which it discards its code; and note the
/// branches before an overflow. Returns 0, or an error. The caller does not hold the lock of the table.
s64 begin_overflows(Thread* t, u32 row, bool branches);

/// Whether another process has changed what the threads of this one count down; follows the change. The caller does not
/// hold the lock.
inline bool countdowns_are_changed(Thread* t) {
  return __atomic_load_n(&process_record(t).countdowns_changed, __ATOMIC_ACQUIRE) != 0;
}
void follow_changed_countdowns(Thread* t);

/// What the events of the threads of a process sample.
struct SampledRows {
  bool has[channel::pmu_event_limit] = {};
  bool branches = false;
  void add(const PmuOpenEvent& e);
};
/// begin_overflows() for all of them that the process can count down.
void begin_overflows(Thread* t, const SampledRows& rows);

// The caller holds the lock from here on. The thread is stopped, or is the caller.

/// Brings PmuCounting::left of everything that is counted of the thread up to date; arms its countdowns after a change.
void settle_overflows(Thread* t);
void arm_overflows(Thread* t);
/// The same for the calling thread, which continues with the events of the processor on which it is.
void roam(Thread* t);
/// The same for the threads of this process that a group counts.
void settle_group(u32 leader);
void arm_group(u32 leader);
/// Makes another process follow a change of what is counted of its thread, which is switched on.
void change_elsewhere(PmuCounting& c);
/// Makes a thread of another process follow changes as soon as it executes code. Returns false if it has ended.
bool call_elsewhere(u32 thread);
/// Whether a thread of another process is known to be stopped, or to wait for memory, between two instructions.
bool pauses_elsewhere(u32 thread);
/// Whether it is in a system call of the program.
inline bool is_in_call(const channel::Thread& record) {
  return __atomic_load_n(&record.in_call, __ATOMIC_SEQ_CST) != 0;
}

/// The period with which samples at a frequency begin. That of cycles stays so, as at three cycles per nanosecond.
u64 first_period(u32 row, u64 frequency);
/// What is counted has a sample after the next `period` events.
void set_period(PmuCounting& c, u64 period);

}  // namespace tally::engine::guest
