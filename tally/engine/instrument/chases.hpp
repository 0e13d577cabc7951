/// Finds accesses whose line leads to their next address: walks over lists and trees.
#pragma once
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// Whether the next address of this access, on a path back to it, follows from what it loads, or from what a load close
/// to it loads by the same pointer: from the same line, usually. So its misses wait for each other. Follows registers
/// and variables on the stack, no other memory, on a few paths of direct branches; a call ends a path. The answer
/// depends on the program's code alone, never on how it is divided into traces. The caller holds cache_lock. Decodes at
/// most 100 instructions.
bool is_chase(const Instruction& in);

}  // namespace tally::engine::instrument
