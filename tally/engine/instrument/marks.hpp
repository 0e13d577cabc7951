/// Marked addresses: functions, points and traps at which what a thread has counted is noted (channel/marks.hpp), and
/// reads of simulated counters.
///
/// A trace begins at each of them, and its first instructions are a gate that leads into the engine. The exact counts
/// are read there: of the counters that changed since the thread was last read, which generated code says in a table of
/// bytes, one for some counters. A function has ended when its thread comes to the return address that it was entered
/// with; so that one is marked too, when it is first seen. Functions that leave others without a return (longjmp, the
/// unwinder of exceptions) are known by name: once a thread that is in a marked function calls such a one, it is asked
/// at each indirect jump whether it has left.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Offsets from the GS base.
enum MarkLayout : u32 {
  touched_at = 0xe0000,      // a byte for so many counters: some of them were counted up
  marks_at = 0xf2000,        // ThreadMarks
  mark_counts_at = 0xf4000,  // mapped from the channel: MarkCounts of each mark
};
/// Fewer take more of the table, more take longer to look through.
inline constexpr u32 counters_per_touch = 32;
static_assert(touched_at + channel::segment_limit / counters_per_touch <= 0xf0000 /* model_counts_at */);
static_assert(mark_counts_at + channel::mark_counts_bytes <= counters_at);

inline bool marks_on() { return settings().marks.on != 0; }

/// Translation knows of them from now on, where there are any. Called once, when the settings are known.
void marks_init();

/// Asks the command which addresses are marked. The thread's state is the program's own; it holds no lock.
void learn_marks(Thread* t);

/// A thread that has its record: nothing is open. False without memory.
bool marks_attach(Thread* t);
/// The counters of a thread were zeroed, and their sum is in its record.
void marks_folded(Thread* t);
/// What is open ends with the thread, whose counts are exact, and which stands still or calls it itself.
void marks_end(Thread* t);

extern "C" {
/// From a gate: rcx = the program's address; rcx and r11 are saved.
void enter_mark();
/// Called by it.
void marked(Thread* t);
}

}  // namespace tally::engine::instrument
