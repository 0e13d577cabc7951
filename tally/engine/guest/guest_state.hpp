/// The program's state in the middle of a trace, as it is natively.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::guest {

/// Whether it is in the comparison that a trace may begin with, which has saved what it borrows: the program's state is
/// that at the trace's address.
bool compares(const CacheLocation& s);

/// Makes counts and registers those of the program at the place: what was counted ahead is taken back, what ran before
/// its segment was counted is added, what generated code had borrowed is given back. Returns the program's pc.
u64 restore_guest_state(Thread* t, Context* c, const CacheLocation& s);

}  // namespace tally::engine::guest
