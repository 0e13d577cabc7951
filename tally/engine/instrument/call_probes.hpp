/// The call tree: which function called which, how often, and what was counted until the return (channel::CallNode).
///
/// Generated code sums the events of a thread. At each call and return it adds them to the active node and changes to
/// another one (call_code.hpp), and enters the engine for what its thread has not seen yet. Each active call has a
/// frame on one of the program's stacks (call_stacks.hpp).
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Whether calls are followed; set by calls_init().
extern bool follows_calls;
inline bool calls_on() { return follows_calls; }
void calls_init();

/// Prepares a thread that has its channel record. `goes_on`: after a fork, it continues the calls of its parent. False
/// without memory.
bool calls_attach(Thread* t, bool goes_on);
/// Adds what was counted since the last call or return to the innermost call: afterwards the tree is complete.
void calls_settle(Thread* t);

/// Moves what the tree has counted to an area of the thread's part (channel::CodeCounts::part). The caller holds
/// threads_lock; the thread is stopped, or is the caller.
void calls_collect(Thread* t);

/// Returns the word by which generated code identifies the call at `pc`, in this trace, to `target`; 0: the target is
/// known only at execution. The caller holds cache_lock and has checked Probes::has_room().
u32 call_word_of(u64 pc, u64 target, u32 trace);
/// Returns a number that identifies the set of events; 0 if calls are not followed.
u64 calls_key();

/// Called when a signal handler of the program begins; its return address is at `sp`. `base`, `bytes`: the alternate
/// stack if the handler begins on one; else 0.
void calls_handler(Thread* t, u64 sp, u64 base, u64 bytes);

/// Called at the first instruction of a function that was entered by a jump, at `target`: it counts as a call by the
/// function that is being executed, and replaces it until the return.
void calls_entered(Thread* t, u64 target);

/// Called from generated code at a call or return.
void calls_asked(Thread* t, u32 word);

}  // namespace tally::engine::instrument
