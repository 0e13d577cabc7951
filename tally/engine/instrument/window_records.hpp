/// Builds rows of windows and writes them into a thread's ring (engine/channel/window_rows_layout.hpp).
#pragma once
#include "tally/engine/instrument/access_records.hpp"
#include "tally/engine/instrument/running_totals.hpp"

namespace tally::engine::instrument {

/// Offset from the GS base.
inline constexpr u32 windows_at = 0xf2300;

/// The state of a thread whose windows start or stop at an address.
enum class WindowState : u32 { counted, waits, done };

/// Lower than any countdown: subtracted from one whose thread is to leave at the next check.
inline constexpr s64 countdown_leaves = s64{1} << 60;

/// Words of a vector that are buffered before they are written.
inline constexpr u32 vector_limit = 1u << 15;

/// The window state of a thread.
struct ThreadWindows {
  channel::NoteRing* ring;
  u64 block;        // address of the block for the next rows
  u32 rows, bytes;  // of the rows in that block
  u32 words;        // of the vector so far
  u64* vector;
  u32 number;       // of the last window
  u64 last;         // address of the instruction that may be the last one of the window
  u32 leaves_next;  // 1: the countdowns are so low that the next check leaves
  u32 stays;        // 1: execute single steps up to the next check
  WindowState window_state;
  s64 ended[channel::window_trigger_limit];  // events of each trigger in all windows that have ended
  EventSums row;                             // the last one
  u64 late[channel::first_segment];  // counters of events known only at run time, up to what the countdowns contain
};
static_assert(windows_at + sizeof(ThreadWindows) <= 0xf3800 /* python_at, in python_frames.cpp */);

inline ThreadWindows& windows_of(const Thread* t) {
  return *reinterpret_cast<ThreadWindows*>(reinterpret_cast<u64>(t) + windows_at);
}
inline const channel::Windows& asked_windows() { return settings().windows; }

/// Chooses how rows are computed. Called once, after the settings and marks are known.
void records_init();
/// Whether rows read all counters. Generated code then marks the counters that it increments.
bool reads_all_counters();

/// window_length: how many events of a trigger fill the thread's window, which never fills outside of the counted part
/// of the run. in_window: how many events it has so far.
s64 window_length(const Thread* t, u32 trigger);
s64 in_window(const Thread* t, u32 trigger);
/// Reads the current values of a row's events.
void read_row(Thread* t, EventSums& sums);

/// Begins an empty block.
void begin_block(ThreadWindows& w);
/// Publishes the thread's block.
void publish(Thread* t, bool closes);
/// Writes the thread's vector so far, except the last `most` words, into rows of its own.
void write_parts(Thread* t, u32 most);
/// Writes the row of a window that ends by a trigger, is cut, or ends where windows stop; or of a start of windows.
void write_row(Thread* t, u32 ended_by);
/// Writes the row of a read. There is one event, the trigger's.
void write_read(Thread* t, channel::Source source, u64 pc, u64 value);

}  // namespace tally::engine::instrument
