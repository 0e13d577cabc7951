// First levels behind a filter: who looks by himself at the most recent line of every set notes the other accesses
// down.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/first_pair.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/note.hpp"

namespace tally::models {

/// L1I and L1D where each access is noted that is not to the most recent line of its set. A use of such a line changes
/// nothing in the set, so what is left out changes no count of misses; accesses may be collected, for nothing after a
/// first level changes it in `fast`. LRU only.
class FirstLevels {
 public:
  /// Words of memory of their tables.
  static constexpr std::uint64_t words(const HierarchyShape& shape) {
    return table_words(shape.l1i) + table_words(shape.l1d);
  }

  /// Words of memory with which what is nearly always there is looked up sooner; zeroes, most of them never touched.
  static std::uint64_t time_words(const HierarchyShape& shape) { return FirstPair::time_words(shape.l1i, shape.l1d); }

  FirstLevels() = default;
  /// `times`: null for none.
  FirstLevels(const HierarchyShape& shape, std::uint64_t* table, std::uint64_t* times = nullptr);
  /// The same, as they go on over copies of their tables.
  FirstLevels over(std::uint64_t* table, std::uint64_t* times) const;

  /// The notes in their order. Misses are counted, those of `l1d_across` too. What misses is left at the beginning, as
  /// LowerLevels::request_all() takes it; returns how many.
  /// Those for a level that does not exist are left out. Cost (Zen 5): 1 ns each where nearly all are there and there
  /// is memory for times, 3 otherwise; 5 without vectors.
  /// `places`, unless null: where each of those stood, and is_across where its miss is one of `l1d_across`.
  std::uint32_t access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts, std::uint32_t* places = nullptr);
  static constexpr std::uint32_t is_across = 1u << 31;

 private:
  std::uint32_t those_there(Note* notes, std::uint32_t n, std::uint32_t* places) const;

  FirstPair levels_;
  bool missed_ = false;  // by the access of the last note, so far
};

}  // namespace tally::models
