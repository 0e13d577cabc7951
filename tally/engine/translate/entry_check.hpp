/// The entry check of a trace for indirect jumps: compares their target with the trace's address.
#pragma once
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::translate {

/// Emits the check: it continues if the target is `pc`, and otherwise looks the
/// target up (indirect_targets.hpp). Returns the address of its first instruction.
u64 emit_entry_check(const Arena& a, Emitter& e, u64 pc);
u32 entry_check_bytes(u64 pc);

}  // namespace tally::engine::translate
