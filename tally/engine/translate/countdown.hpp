/// Counting down to where a thread is to come into the engine: after so many instructions, or other events.
///
/// A thread has a number for each event that is counted down (channel::Windows). Beside the increment of a segment
/// stands code that takes from it what the segment counts, and that leaves where it becomes negative: there the
/// program's state is in place, but for flags that are dead. Segments are counted before, in the middle of, or after
/// what they count, and hot traces as a whole, so the number runs ahead of what has retired, or behind. Hence it is set
/// so that a thread leaves `slack` too early, never too late. From there on it goes in steps: by traces of one
/// instruction each, which lead to one another only. Each begins with a check that leaves before the instruction that
/// may be the last, and before the one after it.
///
/// Threads that go in steps have countdowns which are `slack` higher: negative means that the window is full.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Whether anything is counted down.
inline bool counts_down() { return settings().windows.on != 0; }
/// A stretch is counted after so many of its instructions at most.
inline constexpr u32 countdown_reach = 24;
/// As many events as a thread may have retired, when it comes to where it leaves, without its countdown knowing. Code
/// that others instrument leaves at the beginning of traces only, where nothing of theirs is under way.
s64 slack_of(u32 trigger);
/// Events that generated code sums: rows of Marks::weight, one for each of Thread::sums. Set once.
struct SummedEvents {
  u32 count;
  u8 row[channel::window_sum_limit];
};
extern SummedEvents summed_events;
/// Adds what segment `number` counts to them. Flags as they were, unless they are dead.
void emit_sums(Builder& b, u32 number, bool flags_dead);
/// What one execution of `v` takes from the countdown of a trigger.
s64 amount_of(u32 trigger, const channel::SegmentVector& v);

/// Whether how many events of a trigger the instruction is to count is only known when it runs: then it runs in steps.
bool is_countdown_late(const Instruction& in);

/// Takes what segment `number` counts, and adds it to the sums. `flags_dead`: all arithmetic flags may change.
void emit_countdown(Builder& b, u32 number, bool flags_dead);
/// Of a trace that is none of steps: whether it looks before its first instruction, and that look.
bool looks_first(const Instruction& first);
void emit_first_check(Builder& b, const Instruction& first);
/// The check of one of steps, which is of this instruction; and of its second one, where the first is a popf.
void emit_check(Builder& b, const Instruction& in);
void emit_second_check(Builder& b);

/// Where a thread left.
struct Reached {
  const Trace* steps;      // at the check of this one; else null
  const Trace* first;      // before all of this one; else null, and:
  CacheLocation location;  // before what it has not executed
  u32 triggers;            // the countdowns of so many have taken what they are to have back
};
/// `from`, `word`: as generated code tells them.
Reached reached(u64 from, u64 word);

extern "C" {
/// From generated code: rax = where the countdown begins, and is saved; pc = which one it is.
void enter_window();
/// Called by it.
void window_reached(Thread* t);
}

}  // namespace tally::engine::translate
