/// Stops threads between two instructions when they have counted N events: at the end of a window, or when a counter
/// overflows.
///
/// Generated code counts down (translate/countdown_code.hpp) and leaves slightly too early. Then the thread executes
/// single steps until a countdown is full.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Offset from the GS base.
inline constexpr u32 countdown_state_at = 0xf2300;

/// Lower than any countdown: subtracted from one whose thread is to leave at the next check.
inline constexpr s64 countdown_leaves = s64{1} << 60;

/// Instructions that a thread notes, and the bit of a noted address at which a signal interrupted the thread.
inline constexpr u32 path_limit = 1024;
inline constexpr u64 path_interrupted = u64{1} << 63;

struct CountdownState {
  u64 last;                                 // address of the instruction that may be the last one
  u32 leaves_next;                          // 1: the countdowns are so low that the next check leaves
  u32 stays;                                // 1: execute single steps up to the next check
  s64 span[channel::window_trigger_limit];  // events from when `full` last set a countdown to when it is full
  u64* path;     // with OwnRecords::notes_path: the last instructions that the thread executed, all in single steps
  u64 path_end;  // number of instructions noted
  u64 late[channel::first_segment];  // counters of events known only at run time, up to what the countdowns contain
};

inline CountdownState& countdown_state(const Thread* t) {
  return *reinterpret_cast<CountdownState*>(reinterpret_cast<u64>(t) + countdown_state_at);
}

/// Makes translation count down these events. `full` is called between two instructions, with a thread whose countdown
/// is full, and sets the thread's countdowns. The caller discards code that was translated before.
void count_down_by(const channel::WindowTrigger* events, u32 n, void (*full)(Thread* t, u32 event));
/// Returns a number that identifies how code counts down; 0 if it does not.
u64 countdowns_key();

/// Prepares a thread whose counters are new. Its countdowns are to be set.
void countdowns_attach(Thread* t);
/// Restores the countdowns of a thread to their true values: negative if they are full. It continues in single steps
/// until they are far from that. The thread is stopped, or is the caller.
void stop_counting_down(Thread* t);
/// Returns the event whose countdown is full; the number of events if there is none.
u32 full_countdown(const Thread* t);

/// Called before the counters of a thread are zeroed, and after that.
void countdowns_before_fold(Thread* t);
void countdowns_folded(Thread* t);
/// A handler is called at this address of the thread.
void countdowns_interrupted(Thread* t, u64 pc);
/// Called before an instruction is executed at its own address, the thread's pc.
void countdowns_step(Thread* t);
/// Called between two instructions, before the thread's next trace is found: reports full countdowns, and starts or
/// ends single steps.
void countdowns_settle(Thread* t);

}  // namespace tally::engine::instrument
