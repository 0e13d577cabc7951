// TLBs: the pages whose translations are cached.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache_level.hpp"
#include "tally/engine/models/cache/first_pair.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/note.hpp"
#include "tally/engine/models/cache/tlb_shape.hpp"
#include "tally/engine/models/observer.hpp"

namespace tally::models {

/// The number of sets of a TLB for which the filter of most recent pages has separate entries. Larger TLBs, and those
/// whose number of sets is not a power of two, share entries.
inline constexpr std::uint32_t page_sets = 64;
constexpr std::uint32_t page_sets_distinguished(const CacheShape& shape) {
  const bool is_power = shape.sets != 0 && (shape.sets & (shape.sets - 1)) == 0;
  if (!is_power) return 1;
  return shape.sets < page_sets ? shape.sets : page_sets;
}

/// The counts, as in a cache, with pages instead of lines. A miss in the second level is a page walk; without a second
/// level, a miss in the first. The accesses of page walks are not modelled.
struct TlbCounts {
  LevelCounts itlb, dtlb, stlb;
  bool operator==(const TlbCounts&) const = default;
  void add(const TlbCounts& other);
};

/// One thread's TLBs. Owns no memory.
class Tlbs {
 public:
  /// The tables: table_words() of each, null for one that does not exist. `times`: time_words() words, or null.
  struct Tables {
    std::uint64_t* itlb = nullptr;
    std::uint64_t* dtlb = nullptr;
    std::uint64_t* stlb = nullptr;
    std::uint64_t* times = nullptr;
  };
  /// Returns the number of words of the `times` table, which speeds up lookups when nearly all pages hit. Initially
  /// zero; most words are never touched.
  static std::uint64_t time_words(const TlbShape& shape) { return FirstPair::time_words(shape.itlb, shape.dtlb); }

  Tlbs() = default;
  Tlbs(const TlbShape& shape, const Tables& tables);
  /// Returns the same TLBs over copies of their tables.
  Tlbs over(const Tables& tables) const;

  /// Processes an access of `bytes` bytes (at least 1); one across two pages is two references.
  void access(std::uint64_t address, std::uint64_t bytes, Access access);

  /// Processes accesses within one page each, in order. If there is a first level, accesses to the most recent page of
  /// its set may be left out: they only change the number of references, and this function also leaves out some. With
  /// `times`, access() must not be used. Cost: 1 ns for a hit, 2 ns without `times`, some 10 ns for a miss.
  /// `placed`, unless null: the same notes; the observer is notified of those that change a count.
  void access_all(const Note* notes, std::uint32_t n, const PlacedNote* placed = nullptr, Observer* observer = nullptr);

  const TlbCounts& counts() const { return counts_; }
  /// Resets the counts only.
  void clear_counts() { counts_ = {}; }

 private:
  void touch(std::uint64_t address, Access access);
  void access_quickly(const Note* notes, std::uint32_t n, const PlacedNote* placed, Observer* observer);
  void miss_first(std::uint64_t address, Access access);

  Cache itlb_, dtlb_, stlb_;
  TlbCounts counts_;
  unsigned page_bits_ = 12;
  FirstPair first_;  // over the same tables, if both exist and are lists
};

}  // namespace tally::models
