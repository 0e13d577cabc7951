/// Moves what the kernel put on the stack of a new program to fixed addresses (Settings::repeatable): the program's
/// addresses then depend neither on the size of its environment nor on the length of its path.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// `sp` is the stack pointer of the new program. Returns the one that it starts with: `sp` itself if its arguments and
/// environment are too large for that, or the stack is.
u64 settle_initial_stack(u64 sp);

}  // namespace tally::engine::guest
