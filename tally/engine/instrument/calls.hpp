/// Calls: who called whom, how often, and what was counted up to the return (channel::CallNode).
///
/// Generated code sums the events of a thread, and asks here at each call and return. What is being executed are
/// frames, each with the address of its return address, on the stacks of the program (call_stacks.hpp).
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Whether calls are followed; set by calls_init().
extern bool follows_calls;
inline bool calls_on() { return follows_calls; }
void calls_init();

/// A thread that has its record. `goes_on`: it is that of the parent of a fork, whose calls it is in. False without
/// memory.
bool calls_attach(Thread* t, bool goes_on);
/// What is being executed has counted so much until now: afterwards the tree lacks nothing.
void calls_settle(Thread* t);
/// The counters of a thread were zeroed, and their sum is in its record.
void calls_folded(Thread* t);

/// What generated code asks with at the call at `pc`, which leads to `target`; 0: nobody knows before it is executed.
/// Wants cache_lock held, and room (Probes::has_room).
u32 call_word(u64 pc, u64 target);
/// Another number for each set of events; 0 where calls are not followed.
u64 calls_key();

/// A handler of the program's begins; the address that it returns to is at `sp`. `base`, `bytes`: the alternate stack,
/// where it begins on one; else 0.
void calls_handler(Thread* t, u64 sp, u64 base, u64 bytes);

/// Generated code is at a call or return.
void calls_asked(Thread* t, u32 word);

}  // namespace tally::engine::instrument
