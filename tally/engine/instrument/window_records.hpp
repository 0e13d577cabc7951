/// Builds rows of windows and writes them into a thread's ring (engine/channel/window_rows_layout.hpp).
#pragma once
#include "tally/engine/instrument/access_records.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/instrument/running_totals.hpp"

namespace tally::engine::instrument {

/// Offset from the GS base.
inline constexpr u32 windows_at = 0xf2600;

/// The state of a thread whose windows start or stop at an address.
enum class WindowState : u32 { counted, waits, done };

/// Words of a vector that are buffered before they are written.
inline constexpr u32 vector_limit = 1u << 15;

/// The window state of a thread.
struct ThreadWindows {
  channel::NoteRing* ring;
  u64 block;        // address of the block for the next rows
  u32 rows, bytes;  // of the rows in that block
  u32 words;        // of the vector so far
  u64* vector;
  u32 number;  // of the last window
  WindowState window_state;
  s64 ended[channel::window_trigger_limit];  // events of each trigger in all windows that have ended
  EventSums row;                             // the last one
};
static_assert(countdown_state_at + sizeof(CountdownState) <= windows_at);
static_assert(windows_at + sizeof(ThreadWindows) <= 0xf3800 /* python_at, in python_frames.cpp */);

inline ThreadWindows& windows_of(const Thread* t) {
  return *reinterpret_cast<ThreadWindows*>(reinterpret_cast<u64>(t) + windows_at);
}
inline const channel::Windows& asked_windows() { return settings().windows; }

/// Chooses how rows are computed. Called once, after the settings and marks are known.
void records_init();

/// window_length: how many events of a trigger fill the thread's window, which never fills outside of the counted part
/// of the run. in_window: how many events it has so far.
s64 window_length(const Thread* t, u32 trigger);
s64 in_window(const Thread* t, u32 trigger);
/// Reads the current values of a row's events.
void read_row(Thread* t, EventSums& sums);

/// Returns the CPU that the thread runs on.
u32 this_cpu();

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
