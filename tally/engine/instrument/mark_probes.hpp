/// Marked addresses: functions, addresses and traps at which the counts of a thread are recorded
/// (engine/channel/marks_layout.hpp), and reads of counters.
///
/// A trace begins at each of them, and its first instructions are a gate that enters the engine. The engine reads the
/// exact counts there (running_totals.hpp). A function ends when its thread reaches the return address of the entry, so
/// that address is marked too when it is first seen. Functions that leave others without a return (longjmp, the
/// exception unwinder) are known by name: after a thread in a marked function calls one of them, each indirect jump
/// checks whether the thread has left the marked function.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Offsets from the GS base.
enum MarkLayout : u32 {
  mark_counts_at = 0xf4000,  // mapped from the channel: MarkCounts of each mark
  marks_at = 0xfe400,        // ThreadMarks
};
static_assert(mark_counts_at + channel::mark_counts_bytes <= 0xf8000 /* below calls_at, in call_code.hpp */);

inline bool marks_on() { return settings().marks.on != 0; }

/// Makes translation mark addresses if any are requested. Called once, when the settings are known.
void marks_init();

/// Asks the command which addresses are marked. The thread's state is that of the program; it holds no lock.
void learn_marks(Thread* t);

/// Prepares a thread that has its channel record, with no open entries. `goes_on`: after a fork, it continues the calls
/// of its parent that switch collection. False without memory.
bool marks_attach(Thread* t, bool goes_on);
/// Ends the open entries of a thread that ends. Its counts are exact; it is stopped, or is the caller.
void marks_end(Thread* t);

/// Handles the marks at the thread's pc, which is an instruction that the engine executes itself, without a trace.
void pass_marks(Thread* t);

extern "C" {
/// Entered from a gate: rcx = the program's address; rcx and r11 are saved.
void enter_mark();
/// Called by enter_mark().
void marked(Thread* t);
}

}  // namespace tally::engine::instrument
