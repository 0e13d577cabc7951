/// Lookup of the code cache address for a program address; every entry into the engine uses it.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Counts an instruction that was executed at its own address. `after`: the state after it.
void count_stepped(Thread* t, Context* after);

}  // namespace tally::engine::guest
