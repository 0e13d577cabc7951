/// Where the pieces of the code cache lie.
///
/// Within 2 GB of the code that they serve if they can: then operands that are counted from RIP are reached from a
/// copy, too. Addresses that the program wants are the program's, so an arena may lie far from its code: there such
/// operands are addressed by registers.
#pragma once
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::translate {

/// A piece of the program's address space.
struct AddressRange {
  u64 start = 0, end = 0;

  bool is_empty() const { return start >= end; }
  bool meets(u64 a, u64 bytes) const { return start < a + bytes && a < end; }
};

/// A jump into the engine at the arena's next free address, for code that is in it.
u64 make_gate(Arena& a, void (*to)());

/// The arena that an address lies in, or null. Takes no lock.
Arena* arena_around(u64 address);
/// None is left; their addresses are free. Nobody knows one of them: see flush.
void release_arenas();

/// Whether an arena lies in the way. Wants cache_lock held, as all that follows.
bool is_in_the_way(const AddressRange& s);
/// No arena will be there from now on; what is there now stays.
void keep_clear(const AddressRange& s);
/// The same while a system call of the program asks the kernel for it; one at a time. An empty one ends it.
void keep_clear_for_now(const AddressRange& s);

}  // namespace tally::engine::translate
