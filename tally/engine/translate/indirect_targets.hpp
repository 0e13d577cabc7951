/// The entries of all traces that indirect jumps lead to, by program address. A thread's jump table has one slot for
/// several addresses. If a slot is empty or holds another target, generated code searches the target here (entry.cpp),
/// without a lock. So the engine is only entered for targets that are not known yet.
///
/// A reader may see an entry of another address while the table changes: the entry check then fails, and the reader
/// searches again.
///
/// The caller must hold cache_lock for everything here.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::translate {

/// One target: open addressing by multiplication, grows fourfold. `entry` is written last.
struct IndirectTarget {
  u64 pc;
  u64 entry;  // of its trace; 0: there is none now
};
/// Odd, so that the high half of a product depends on all bits of the address.
inline constexpr u32 indirect_target_factor = 0x61C88647;

/// Points after `indirect_mask_bytes` bytes with the mask of offsets in the table.
extern "C" IndirectTarget* indirect_targets;
inline constexpr u64 indirect_mask_bytes = 4096;

void indirect_targets_init();
/// Adds a target. If there is no memory for it, its jumps enter the engine.
void add_indirect_target(u64 pc, u64 entry);
/// Replaces the entry of `pc` if it is `old`.
void replace_indirect_target(u64 pc, u64 old, u64 entry);
void forget_indirect_targets();

}  // namespace tally::engine::translate
