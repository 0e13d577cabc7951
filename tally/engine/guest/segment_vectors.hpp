/// The mapping of the vectors of this process's segments (own_records.vectors), and of a child's during a fork.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Maps the vectors of the first process of a program, and writes those that are not of code. Returns false without
/// memory, or if `area` is none.
bool vectors_init(u32 area);
/// Returns the channel area that contains the vectors.
u32 vectors_area();

/// Copies the vectors to this area before a fork, in the parent. Returns false without memory, or if `area` is none.
/// After the fork the parent drops the copy and the child adopts it.
bool vectors_copy(u32 area);
void vectors_copied();
void vectors_forked(u32 area);

}  // namespace tally::engine::guest
