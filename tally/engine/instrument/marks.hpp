/// Marked addresses: functions, points and traps at which what a thread has counted is noted
/// (engine/channel/marks.hpp), and reads of counters.
///
/// A trace begins at each of them, and its first instructions are a gate that leads into the engine. The exact counts
/// are read there (running_totals.hpp). A function has ended when its thread comes to the return address that it was
/// entered with; so that one is marked too, when it is first seen. Functions that leave others without a return
/// (longjmp, the unwinder of exceptions) are known by name: once a thread that is in a marked function calls such a
/// one, it is asked at each indirect jump whether it has left.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Offsets from the GS base.
enum MarkLayout : u32 {
  marks_at = 0xf2200,        // ThreadMarks
  mark_counts_at = 0xf4000,  // mapped from the channel: MarkCounts of each mark
};
static_assert(mark_counts_at + channel::mark_counts_bytes <= counters_at);

inline bool marks_on() { return settings().marks.on != 0; }

/// Translation knows of them from now on, where there are any. Called once, when the settings are known.
void marks_init();

/// Asks the command which addresses are marked. The thread's state is the program's own; it holds no lock.
void learn_marks(Thread* t);

/// A thread that has its record: nothing is open. False without memory.
bool marks_attach(Thread* t);
/// What is open ends with the thread, whose counts are exact, and which stands still or calls it itself.
void marks_end(Thread* t);

extern "C" {
/// From a gate: rcx = the program's address; rcx and r11 are saved.
void enter_mark();
/// Called by it.
void marked(Thread* t);
}

}  // namespace tally::engine::instrument
