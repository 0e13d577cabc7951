// First-level caches for accesses that passed a filter: the filter checks the most recent line of every set itself and
// notes all other accesses.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/first_pair.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/note.hpp"

namespace tally::models {

/// L1I and L1D for accesses that are not to the most recent line of their set. A use of such a line changes nothing in
/// the set, so leaving it out changes no miss count. Accesses may be collected and processed later, because in `fast`
/// nothing after a first level changes it. LRU only.
class FirstLevels {
 public:
  /// Returns the number of words of their tables.
  static constexpr std::uint64_t words(const HierarchyShape& shape) {
    return table_words(shape.l1i) + table_words(shape.l1d);
  }

  /// Returns the number of words of the `times` table, which speeds up lookups when nearly all lines hit. Initially
  /// zero; most words are never touched.
  static std::uint64_t time_words(const HierarchyShape& shape) { return FirstPair::time_words(shape.l1i, shape.l1d); }

  FirstLevels() = default;
  /// `times`: null for none.
  FirstLevels(const HierarchyShape& shape, std::uint64_t* table, std::uint64_t* times = nullptr);
  /// Returns the same levels over copies of their tables.
  FirstLevels over(std::uint64_t* table, std::uint64_t* times) const;

  /// Processes the notes in order and counts misses, including those of `l1d_across`. Moves the notes that miss to the
  /// front, in the format of LowerLevels::request_all(), and returns their number. Drops notes for a level that does
  /// not exist. Cost (Zen 5): 1 ns per note if nearly all hit and `times` is available, 3 ns otherwise; 5 ns without
  /// vectors.
  /// `indexes`, unless null: receives the index of each of those notes, plus is_across if its miss is one of
  /// `l1d_across`.
  std::uint32_t access_all(Note* notes, std::uint32_t n, HierarchyCounts& counts, std::uint32_t* indexes = nullptr);
  static constexpr std::uint32_t is_across = 1u << 31;

 private:
  std::uint32_t drop_missing_levels(Note* notes, std::uint32_t n, std::uint32_t* indexes) const;

  FirstPair levels_;
  bool missed_ = false;  // whether the access of the last note has missed so far
};

}  // namespace tally::models
