/// Finds accesses whose line leads to their next address, as in walks over lists and trees, loads that work long on
/// each line, and loads that decide branches.
#pragma once
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// What the code after an access does with its line.
enum class Reuse : u8 {
  none,
  /// The next address of the access, on a path back to it, follows from what it loads, or from what a load close to it
  /// loads by the same pointer: from the same line, usually. So its misses wait for each other.
  chase,
  /// A load, and on the first path back to it the registers of its address grow by constants: at least 20 instructions
  /// run for each line, or each trip waits for a sum or product of the trip before.
  busy,
  /// A load, after which the same registers address a store.
  updated,
  /// None of these, but a load whose value decides a branch before the access runs again for the second time: by the
  /// flags or as its target, or it is passed to a call in a register, or returned, where it may.
  deciding,
};

/// Follows registers and variables on the stack, no other memory, on a few paths of direct branches; a call ends a
/// path. The answer depends on the program's code alone, never on how it is divided into traces. The caller holds
/// cache_lock. Decodes at most 200 instructions.
Reuse reuse_of(const Instruction& in);

}  // namespace tally::engine::instrument
