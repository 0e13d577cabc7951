// First levels behind a filter: who looks by himself at the most recent line of every set notes the other accesses
// down.
#pragma once

#include <cstdint>

#include "tally/sim/hierarchy.hpp"

namespace tally::sim {

/// An access to a line that is not the most recent one of its set: the line's address, and in the bits below it the
/// Access and same_access. Lines have at least 8 bytes.
using Note = std::uint64_t;
/// The line is touched by the same access as that of the note before.
constexpr Note same_access = 4;
constexpr Note note_of(std::uint64_t line, Access access) { return line | static_cast<Note>(access); }

/// L1I and L1D where that is how they are asked. A use of a set's most recent line changes nothing in the set, so what
/// is left out changes no count of misses; accesses may be collected, for nothing behind a first level changes it in
/// `fast`. LRU only.
class FirstLevels {
 public:
  /// Words of memory of their tables.
  static constexpr std::uint64_t words(const HierarchyShape& shape) {
    return table_words(shape.l1i) + table_words(shape.l1d);
  }

  FirstLevels() = default;
  FirstLevels(const HierarchyShape& shape, std::uint64_t* table);

  /// The notes in their order. Misses are counted, those of `l1d_across` too. What misses is left at the beginning, as
  /// LowerLevels::request_all() takes it; returns how many. Cost: some 5 ns each.
  std::uint32_t access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts);

 private:
  Cache l1i_, l1d_;
  bool missed_ = false;  // by the access of the last note
};

}  // namespace tally::sim
