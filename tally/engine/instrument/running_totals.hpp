/// What a thread has counted so far: read at marks and at the ends of windows.
///
/// Only counters that changed since the last read are read. Generated code marks them in a table, with one byte per
/// group of counters.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {
struct Builder;
}

namespace tally::engine::instrument {

/// Offsets from the GS base.
enum RunningLayout : u32 {
  touched_at = 0xe0000,  // one byte per counters_per_touch counters: some of them were incremented
  running_at = 0xfe000,  // RunningTotals
};
/// Fewer would make the table larger, more would make the search for changed counters longer.
inline constexpr u32 counters_per_touch = 32;
static_assert(touched_at + channel::segment_limit / counters_per_touch <= 0xf0000 /* model_counts_at */);

struct RunningTotals {
  u64* seen;                // its counters as of the last read
  u64* sums;                // of counters_per_touch of them each, as of the last read_executions()
  channel::Totals running;  // their sum
};
static_assert(running_at + sizeof(RunningTotals) <= 0xfe400 /* marks_at, in mark_probes.hpp */);

/// Prepares a thread that has its channel record, with nothing counted. False without memory.
bool totals_attach(Thread* t);
/// Prepares a thread that asks for its counts but does not mark the counters that it increments. False without memory.
bool totals_asked(Thread* t);
bool has_running_totals(const Thread* t);
/// Reports to on_executions what the thread has executed since its counters were last read. Reads all of them.
void read_executions(Thread* t);
/// Returns what a thread had counted when its counters were last read.
channel::Totals running_totals(const Thread* t);
/// Forgets what was read: the counters were added to the thread's record and zeroed, or are to be read from the start.
void forget_totals(Thread* t);
/// Emits the mark that belongs to the increment of segment `number`. Changes no flags.
void emit_touched(translate::Builder& b, u32 number);

/// Called with how often a thread has executed a segment since its counters were last read; null: not called. Set once.
extern void (*on_executions)(Thread* t, u32 segment, u64 times);

/// Returns everything that a thread has counted; it is stopped, or is the caller. Reads the whole table, and all
/// counters of each byte that is set.
channel::Totals totals_of(Thread* t);

/// The current values of the requested events (channel::Marks::weight).
struct EventSums {
  s64 of[channel::weight_limit];
};
/// `waits`: as for running_cycles().
void read_events(Thread* t, EventSums& sums, bool waits = true);

}  // namespace tally::engine::instrument
