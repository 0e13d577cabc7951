/// Placement of the arenas of the code cache.
///
/// If possible, an arena is within 2 GB of the code that it serves, so that copies reach RIP-relative operands.
/// Addresses that the program requests belong to the program, so an arena may be far from its code. There, such
/// operands are addressed by registers.
#pragma once
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::translate {

/// A range of the program's address space.
struct AddressRange {
  u64 start = 0, end = 0;

  bool is_empty() const { return start >= end; }
  bool meets(u64 a, u64 bytes) const { return start < a + bytes && a < end; }
};

inline constexpr u32 arena_limit = 16;

/// Emits a jump into the engine at the arena's next free address, for use by code in the arena.
u64 make_gate(Arena& a, void (*to)());

/// Makes the arena's memory usable up to these addresses. Returns false if the kernel has none.
bool can_use(const Arena& a, u64 hot, u64 cold);
/// Returns the arena that contains an address, or null. Takes no lock.
Arena* arena_around(u64 address);
/// Returns the address with this lower half in the first arena from `next` on that contains one, and sets `next` to the
/// arena after it; 0: none contains one. Takes no lock.
u64 arena_address(u32 lower, u32& next);
/// Releases all arenas and their addresses. The caller ensures that no thread holds such an address: see flush.
void release_arenas();

/// Whether the range overlaps an arena. The caller must hold cache_lock, as for all functions below.
bool overlaps_arena(const AddressRange& s);
/// Copies the ranges of all arenas to `to`, which has room for arena_limit. Returns their number.
u32 arena_ranges(AddressRange* to);
/// Prevents new arenas in this range. Existing ones stay.
void keep_clear(const AddressRange& s);
/// The same while a system call of the program requests this range; only one at a time. An empty range ends it.
void keep_clear_for_now(const AddressRange& s);

}  // namespace tally::engine::translate
