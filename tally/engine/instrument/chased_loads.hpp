/// Finds loads whose own earlier results lead to their address: walks over lists and trees.
#pragma once
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// Whether the result of this load reaches the load's address on a path back to it, so that its misses wait for each
/// other. Follows registers, not memory, on a few paths of direct branches; a call ends a path. The answer depends on
/// the program's code alone, never on how it is divided into traces. The caller holds cache_lock. Takes up to 5 µs.
bool is_chased(const Instruction& in);

}  // namespace tally::engine::instrument
