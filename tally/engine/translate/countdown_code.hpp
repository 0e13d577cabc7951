/// Countdowns: make a thread enter the engine after N instructions or other events (instrument/countdowns.hpp).
///
/// A thread has a countdown for each trigger event (own_records.countdown). Code next to the increment of a segment
/// subtracts the events of the segment, and leaves if the countdown becomes negative. There the program's state is
/// complete, except for dead flags. Segments are counted before, amid or after their instructions, and hot traces as a
/// whole, so the countdown may be ahead of the retired events or late. Therefore it is set so that a thread leaves
/// `slack` events too early, never too late. From there the thread goes *in steps*: it runs traces of one instruction
/// each, which lead only to one another. Each starts with a check that leaves before the instruction that may be the
/// last one, and before the one after it.
///
/// The countdowns of threads in steps are higher by `slack`: negative means full.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Whether events are counted down.
inline bool counts_down() { return own_records.counts_down; }
/// Code is counted after at most this many of its instructions.
inline constexpr u32 countdown_reach = 24;
/// The maximum number of trigger events that a thread has retired, but not subtracted, when it reaches a point where it
/// can leave. Instrumented code leaves only at the start of traces, where no instrumentation is in progress.
s64 slack_of(u32 trigger);
/// Events that generated code sums: their weights (channel::Marks::weight), one for each of Thread::sums.
struct SummedEvents {
  u32 count;
  bool has_all;         // the sums include what is known only at run time
  bool are_counters;    // rdpmc reads them: Thread::counter
  bool reads_counters;  // rows read all counters, which generated code marks
  const s8* weight[channel::window_sum_limit];
};
extern SummedEvents summed_events;
/// The flags where a segment is counted: `saved` are in rax, whose value is in the first spill slot.
enum class Flags : u8 { live, dead, saved };
/// Emits code that adds the events of segment `number` to the sums. It preserves live flags.
void emit_sums(Builder& b, u32 number, Flags flags);
/// Emits code that adds `reg` times `each` to the counter of run-time segment `number`; `each` may be negative. It
/// changes rdx and preserves the flags.
void emit_run_time_count(Emitter& e, u32 number, u8 reg, s32 each);
/// Adds `n` executions of run-time segment `number` to what the thread has counted.
void add_run_time_count(Thread* t, u32 number, s64 n);
/// How much one execution of `v` subtracts from the countdown of a trigger.
s64 amount_of(u32 trigger, const channel::SegmentVector& v);

/// Whether the number of trigger events of the instruction is only known at run time. Then it runs in steps.
bool is_countdown_late(const Instruction& in);

/// Emits code that subtracts the events of segment `number`. It preserves live flags.
void emit_countdown(Builder& b, u32 number, Flags flags);
/// Whether a trace that is not in steps needs a check before its first instruction; emits that check.
bool looks_first(const Instruction& first);
void emit_first_check(Builder& b, const Instruction& first);
/// Emits the check of a trace in steps, for this instruction.
void emit_check(Builder& b, const Instruction& in);

/// Where a thread left a trace for a countdown.
struct CountdownExit {
  const Trace* steps;      // at the check of this trace; null = elsewhere
  const Trace* first;      // at the start of this trace; null = elsewhere, and the following apply:
  CacheLocation location;  // before the next instruction to execute
  u32 triggers;            // the countdowns of this many triggers were reduced, and must be restored
};
/// `from` and `word` are those that generated code passes.
CountdownExit reached(u64 from, u64 word);

extern "C" {
/// Entered from generated code: rax = the start of the countdown code, and is saved; pc = which countdown it is.
void enter_window();
/// Called by enter_window().
void window_reached(Thread* t);
}

}  // namespace tally::engine::translate
