/// What a thread has counted up to this moment: read at marks and at the end of windows.
///
/// Of the counters only those are read that changed since the thread was last read, which generated code says in a
/// table of bytes, one for some counters.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {
struct Builder;
}

namespace tally::engine::instrument {

/// Offsets from the GS base.
enum RunningLayout : u32 {
  touched_at = 0xe0000,  // a byte for so many counters: some of them were counted up
  running_at = 0xf2000,  // RunningTotals
};
/// Fewer take more of the table, more take longer to look through.
inline constexpr u32 counters_per_touch = 32;
static_assert(touched_at + channel::segment_limit / counters_per_touch <= 0xf0000 /* model_counts_at */);

struct RunningTotals {
  u64* seen;                // its counters, as they were last read
  channel::Totals running;  // what these say
};

/// A thread that has its record: nothing is counted yet. False without memory.
bool totals_attach(Thread* t);
/// A thread that asks what it has counted, but is not told of what it touches. False without memory.
bool totals_asked(Thread* t);
bool has_running_totals(const Thread* t);
/// Tells on_executions what the thread has executed since its counters were last read. Looks at all of them.
void read_executions(Thread* t);
/// The counters of a thread were zeroed, and their sum is in its record.
void totals_folded(Thread* t);
/// Beside the increment of segment `number`. Changes no flags.
void emit_touched(translate::Builder& b, u32 number);

/// Who is told how often a thread has executed a segment since its counters were last read; null: nobody. Set once.
extern void (*on_executions)(Thread* t, u32 segment, u64 times);

/// All that a thread has counted, which stands still or calls it itself. Looks at the whole table, and at all counters
/// of each byte that is set.
channel::Totals totals_of(Thread* t);

/// The events that were asked for (channel::Marks::weight), up to this moment.
struct EventSums {
  s64 of[channel::mark_event_limit];
};
/// `waits`: as running_cycles().
void read_events(Thread* t, EventSums& sums, bool waits = true);

}  // namespace tally::engine::instrument
