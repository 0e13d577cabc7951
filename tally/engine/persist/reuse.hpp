/// Creates a trace from a template: copies it and applies its relocations. The caller must hold cache_lock.
#pragma once
#include "tally/engine/persist/translation_store.hpp"

namespace tally::engine::persist {

/// How far after `body` the code of a template must start so that all its exits can be patched; else room_nowhere.
u64 room_before(const Template& t, u64 body);
inline constexpr u64 room_nowhere = 4 * trace_alignment;

/// Creates a trace from a template. Returns null if it cannot be used there, and a dead trace if there is no room.
Trace* reuse(const Template& t, u64 pc, bool by_jump, Arena& arena);

}  // namespace tally::engine::persist
