/// Rows of windows on their way into a thread's ring (engine/channel/windows.hpp): what they hold, and where they go.
#pragma once
#include "tally/engine/instrument/access_records.hpp"
#include "tally/engine/instrument/running_totals.hpp"

namespace tally::engine::instrument {

/// Offset from the GS base.
inline constexpr u32 windows_at = 0xf2300;

/// Of a thread whose windows start or stop at an address: how far it is.
enum class Stretch : u32 { counted, waits, done };

/// Words of a vector that are kept until they are written.
inline constexpr u32 vector_limit = 1u << 15;

/// What a thread keeps for its windows.
struct ThreadWindows {
  channel::NoteRing* ring;
  u64 block;        // where the rows go that are being written
  u32 rows, bytes;  // that are there
  u32 words;        // of the vector so far
  u64* vector;
  u32 number;       // of the last one
  u64 last;         // address of the instruction that may be the last of the window
  u32 leaves_next;  // countdowns are so low that the next check leaves
  u32 stays;        // in steps, up to the next check
  Stretch stretch;
  s64 ended[channel::window_trigger_limit];  // of the events of triggers, in all windows that have ended
  EventSums row;                             // the last one
  u64 late[channel::first_segment];  // the counters of what is known only at run time, as they are in the countdowns
};
static_assert(windows_at + sizeof(ThreadWindows) <= 0xf4000 /* mark_counts_at */);

inline ThreadWindows& windows_of(const Thread* t) {
  return *reinterpret_cast<ThreadWindows*>(reinterpret_cast<u64>(t) + windows_at);
}
inline const channel::Windows& asked_windows() { return settings().windows; }

/// What rows are made of. Called once, when the settings are known, after marks.
void records_init();
/// Whether rows read all counters, which generated code then says are touched.
bool reads_all_counters();

/// Of the events of a trigger: how many fill the thread's window, which one outside of its stretch never is; and how
/// many it has so far.
s64 window_length(const Thread* t, u32 trigger);
s64 in_window(const Thread* t, u32 trigger);
/// The events of rows, up to this moment.
void read_row(Thread* t, EventSums& sums);

/// The thread's block is empty.
void begin_block(ThreadWindows& w);
/// What it holds is handed on.
void publish(Thread* t, bool closes);
/// Its vector so far goes into rows of its own, but for the last `most` words.
void write_parts(Thread* t, u32 most);
/// The window ends: by a trigger, cut, or because the thread's stretch does; or it is the stretch that begins.
void write_row(Thread* t, u32 ended_by);

}  // namespace tally::engine::instrument
