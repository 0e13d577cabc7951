/// The addresses of the engine's own memory, which lists of the process's mappings leave out.
#pragma once
#include "tally/engine/translate/arenas.hpp"

namespace tally::engine::guest {

class OwnRanges {
 public:
  /// Reads where the code caches are now. The caller must hold cache_lock.
  void read() { arena_count_ = translate::arena_ranges(arenas_); }

  /// Returns where the engine's memory around this address ends; 0 if the address is not the engine's.
  u64 end_of(u64 address) const;
  /// Returns the first address of the engine's memory in [from, end), or `end`.
  u64 next(u64 from, u64 end) const;
  /// The bytes of [from, end) that are the engine's.
  u64 bytes_in(u64 from, u64 end) const;

 private:
  translate::AddressRange arenas_[translate::arena_limit] = {};
  u32 arena_count_ = 0;
};

}  // namespace tally::engine::guest
