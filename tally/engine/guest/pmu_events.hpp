/// The PMU that programs find (Settings::pmu): perf_event_open(2) for hardware events, and the calls on the descriptors
/// that it returns. Counts are those of the engine, exact to the instruction.
///
/// The kernel object of such a descriptor is a stream socket that is never connected: docs/design/engine.md, "Counters
/// that programs open".
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// The call is not for the PMU: the kernel makes it.
inline constexpr s64 not_of_pmu = -0x10000;

/// Serves perf_event_open(2).
s64 open_pmu_event(Thread* t);
/// Serve read(2), readv(2) and ioctl(2).
s64 read_pmu_event(Thread* t);
s64 control_pmu_event(Thread* t);

/// An event that `number` refers to, before a call that may close that descriptor. 0: none, or the caller is a vfork
/// child, whose descriptors are copies.
u32 pmu_event_at(const Thread* t, u64 number);
/// A call has duplicated the descriptor `number`, or closed it, which was one of `event`.
void pmu_event_duplicated(const Thread* t, u64 number);
void pmu_event_closed(Thread* t, u32 event, u64 number);
/// close_range(2) is about to close these descriptors.
void pmu_events_close(Thread* t, u64 first, u64 last);

/// The process may have received descriptors of events from another one.
void pmu_events_received();
/// PR_TASK_PERF_EVENTS_ENABLE and _DISABLE of prctl(2): the kernel has switched its own events.
void pmu_events_switched(Thread* t, bool is_on);

}  // namespace tally::engine::guest
