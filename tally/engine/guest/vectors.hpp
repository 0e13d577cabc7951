/// Where the vectors of this process's segments are mapped (own_records.vectors), and those of a child while it is
/// forked.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Those of the first process of a program. False without memory, or where `area` is none.
bool vectors_init(u32 area);
/// The area of the channel that they are in.
u32 vectors_area();

/// Before a fork, in the parent: a copy of them in this area, beside its own. False without memory, or where `area` is
/// none. After the fork the parent has no more to do with it; the child takes it for its own.
bool vectors_copy(u32 area);
void vectors_copied();
void vectors_forked(u32 area);

}  // namespace tally::engine::guest
