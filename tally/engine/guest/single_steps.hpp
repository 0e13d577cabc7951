/// Execution of single instructions at their own address, with the trap flag set, and what they count.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Lets the thread execute the instruction at c->ip alone when the handler returns. Reads it now, because it may
/// overwrite itself.
void begin_step(Thread* t, Context* c);

/// Counts the instruction that begin_step() began. `after`: the state at the trap, or at the fault or the signal that
/// arrived instead.
void count_stepped(Thread* t, Context* after, bool has_trapped);

/// Whether the last instruction that it counted loads the flags: the trap flag afterwards is the program's.
bool has_loaded_flags(const Thread* t);

}  // namespace tally::engine::guest
