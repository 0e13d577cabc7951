/// ptrace(2) calls of the program.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::guest {

/// Emulates ptrace(2). A process that asks to be traced leaves the engine first.
s64 emulate_ptrace(Thread* t);
/// Whether `tid` is a thread of this address space.
bool is_in_this_memory(u64 tid);

}  // namespace tally::engine::guest
