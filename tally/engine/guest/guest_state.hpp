/// Reconstruction of the program's native state from a position inside a trace.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {

/// Returns the elements that are still to be processed, one bit for each.
u64 remaining_elements(const ElementMask& mask, const Context* c);

/// Whether the position is in the comparison at the start of a trace, after it saved the registers that it borrows. The
/// program's state is then the state at the trace's address.
bool compares(const CacheLocation& s);

/// Restores the program's counts and registers at the position: subtracts what was counted in advance, adds what was
/// executed before its segment was counted, and restores the registers that generated code borrowed. Returns the
/// program's pc.
u64 restore_guest_state(Thread* t, Context* c, const CacheLocation& s);

}  // namespace tally::engine::guest
