// Translation buffers: which pages' addresses are at hand.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache.hpp"
#include "tally/engine/models/cache/first_pair.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/note.hpp"
#include "tally/engine/models/observer.hpp"

namespace tally::models {

/// What the TLBs look like. All pages have the length that the shapes name (line_bits, 12 for 4 KiB): whether the
/// kernel gave a program larger ones is not seen from inside it.
struct TlbShape {
  CacheShape itlb, dtlb;
  CacheShape stlb;  ///< the second level, for both
  bool operator==(const TlbShape&) const = default;

  /// log2 of the bytes of a page.
  unsigned page_bits() const;
};

/// Sets of a TLB that are told apart by who asks for the most recent page of each; of more, and of a number that is no
/// power of two, some are taken for one.
inline constexpr std::uint32_t page_sets = 64;
constexpr std::uint32_t page_sets_distinguished(const CacheShape& shape) {
  const bool is_power = shape.sets != 0 && (shape.sets & (shape.sets - 1)) == 0;
  if (!is_power) return 1;
  return shape.sets < page_sets ? shape.sets : page_sets;
}

/// What is counted: as in a cache, with a page in place of a line. A miss in the second level is a walk of the page
/// tables; where there is none, a miss in the first is. The walks' own accesses are not modelled.
struct TlbCounts {
  LevelCounts itlb, dtlb, stlb;
  bool operator==(const TlbCounts&) const = default;
  void add(const TlbCounts& other);
};

/// One thread's TLBs. Owns no memory.
class Tlbs {
 public:
  /// Where the tables lie: table_words() of each, null for one that does not exist. `times`: time_words(), or null.
  struct Tables {
    std::uint64_t* itlb = nullptr;
    std::uint64_t* dtlb = nullptr;
    std::uint64_t* stlb = nullptr;
    std::uint64_t* times = nullptr;
  };
  /// Words of memory with which what is nearly always there is looked up sooner; zeroes, most of them never touched.
  static std::uint64_t time_words(const TlbShape& shape) { return FirstPair::time_words(shape.itlb, shape.dtlb); }

  Tlbs() = default;
  Tlbs(const TlbShape& shape, const Tables& tables);
  /// The same, as they go on over copies of their tables.
  Tlbs over(const Tables& tables) const;

  /// An access of `bytes` bytes (at least 1); one across two pages is two references.
  void access(std::uint64_t address, std::uint64_t bytes, Access access);

  /// Accesses within a page each, in their order. Any to the most recent page of its set may be left out where
  /// there is a first level: it changes nothing but the number of references, and some of those are left out here.
  /// Where there is memory for times nobody may call access(). Cost: 1 ns for a page that is there and 2 without
  /// times, some 10 for the others.
  /// `placed`, unless null: the same notes; the observer is told of those that count anything.
  void access_all(const Note* notes, std::uint32_t n, const PlacedNote* placed = nullptr, Observer* observer = nullptr);

  const TlbCounts& counts() const { return counts_; }
  /// They begin again; everything else stays as it is.
  void clear_counts() { counts_ = {}; }

 private:
  void touch(std::uint64_t address, Access access);
  void access_quickly(const Note* notes, std::uint32_t n, const PlacedNote* placed, Observer* observer);
  void miss_first(std::uint64_t address, Access access);

  Cache itlb_, dtlb_, stlb_;
  TlbCounts counts_;
  unsigned page_bits_ = 12;
  FirstPair first_;  // over the same tables, where both exist and are lists
};

}  // namespace tally::models
