/// Threads and processes that events count: how they begin and end, fork and execute programs.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// The thread is about to start another one, which inherits events; could not start it; or is the new one.
void pmu_events_before_thread(const Thread* t, const Thread* child);
void pmu_events_of_failed_thread(const Thread* child);
void pmu_events_of_thread(Thread* t);
/// The thread is about to fork: locks the table, so that the child has the same events as the parent at that time.
/// `process`: the child's record.
void pmu_events_before_fork(const Thread* t, u32 process);
/// In the parent.
void pmu_events_after_fork(Thread* t, u32 process, bool has_failed);
void pmu_events_of_child(Thread* t, u32 process);

/// The thread, or the process with its stopped threads, ends: its counts are final.
void pmu_events_of_thread_end(Thread* t);
void pmu_events_of_process_end(Thread* t);
/// The thread is about to execute another program; natively; or could not do so.
void pmu_events_before_exec(Thread* t);
void pmu_events_before_native_exec(Thread* t);
void pmu_events_after_failed_exec(Thread* t, bool was_native);
/// The thread is about to change the processors on which it may run; has done so, or could not.
void pmu_events_before_move(Thread* t);
void pmu_events_after_move(Thread* t);
/// A program starts: it is counted by the events of what its process executed before.
void pmu_events_of_program(Thread* t);
/// The process continues natively: nothing counts it.
void pmu_events_of_native(Thread* t);

}  // namespace tally::engine::guest
