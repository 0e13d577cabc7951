// First levels behind a filter: who looks by himself at the most recent line of every set notes the other accesses
// down.
#pragma once

#include <cstdint>

#include "tally/sim/hierarchy.hpp"
#include "tally/sim/note.hpp"
#include "tally/sim/vector_sets.hpp"

namespace tally::sim {

/// L1I and L1D where each access is noted that is not to the most recent line of its set. A use of such a line changes
/// nothing in the set, so what is left out changes no count of misses; accesses may be collected, for nothing behind a
/// first level changes it in `fast`. LRU only.
class FirstLevels {
 public:
  /// Words of memory of their tables.
  static constexpr std::uint64_t words(const HierarchyShape& shape) {
    return table_words(shape.l1i) + table_words(shape.l1d);
  }

  FirstLevels() = default;
  FirstLevels(const HierarchyShape& shape, std::uint64_t* table);

  /// The notes in their order. Misses are counted, those of `l1d_across` too. What misses is left at the beginning, as
  /// LowerLevels::request_all() takes it; returns how many.
  /// Those for a level that does not exist are left out. Cost: some 5 ns each.
  std::uint32_t access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts);

 private:
  std::uint32_t those_there(Note* notes, std::uint32_t n) const;

  void find(const Note* notes, std::uint32_t n, std::uint8_t* hits);

  Cache l1i_, l1d_;
  VectorLevel vector_levels_[4];  // by Access, the same tables
  bool by_vectors_ = false;
  bool missed_ = false;  // by the access of the last note
};

}  // namespace tally::sim
