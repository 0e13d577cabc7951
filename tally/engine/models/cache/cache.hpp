// One level of a cache, or one TLB: which lines (pages) it holds. It knows addresses, not contents.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/lru.hpp"
#include "tally/engine/models/cache/tag.hpp"
#include "tally/engine/models/cache/tree_plru.hpp"

namespace tally::models {

/// Which line of a full set has to go.
enum class Replacement : std::uint8_t {
  lru,        ///< the least recently used one
  tree_plru,  ///< the one that a tree of bits points to
};

/// The most ways that a level may have; tree pseudo-LRU keeps a bit per way in one word.
constexpr std::uint32_t most_ways = 64;

/// What a level looks like. Plain data: it goes from the command to the engine as it is.
struct CacheShape {
  std::uint32_t sets = 0;      ///< any number, a power of two or not; 0: there is no such level
  std::uint32_t ways = 0;      ///< lines a set holds: 1 to most_ways
  std::uint8_t line_bits = 6;  ///< log2 of a line's bytes (of a page's, for a TLB): 2 to 30
  Replacement replacement = Replacement::lru;
  bool write_allocate =
      true;  ///< a store that misses brings the line in; else it goes to the next level and leaves no trace
  bool inclusive = false;  ///< what leaves this level leaves the levels above it as well
  bool operator==(const CacheShape&) const = default;

  /// What it holds, in bytes.
  constexpr std::uint64_t size_bytes() const { return (std::uint64_t{sets} * ways) << line_bits; }
};

/// Words of memory (8 bytes each) that the tables of a level take. They begin as zeroes, and words of sets that are
/// never used are never touched, so that they may be reserved without being backed.
constexpr std::uint64_t table_words(const CacheShape& shape) {
  const std::uint32_t set_words =
      shape.replacement == Replacement::lru ? Lru::words(shape.ways) : TreePlru::words(shape.ways);
  return std::uint64_t{shape.sets} * set_words;
}

/// A level and its table; one without sets does not exist.
struct LevelTable {
  const CacheShape& shape;
  std::uint64_t* words;
};

/// What became of one look at a level.
struct Look {
  bool hit = false;                   ///< the line was there
  bool first_use = false;             ///< it was there because of a prefetch, and nothing had used it before
  std::uint64_t displaced = no_line;  ///< address of the line that had to go
};

/// One level. It owns no memory; copies are views of the same tables.
class Cache {
 public:
  /// No level: `exists()` is false, and nothing else may be called.
  Cache() = default;
  /// A level over `table`, table_words(shape) words that are zero or come from an earlier one of the same shape.
  /// `set_words`: from the beginning of one set to that of the next, where that is more than a set needs.
  Cache(const CacheShape& shape, std::uint64_t* table, std::uint32_t set_words = 0);

  bool exists() const { return table_ != nullptr; }
  const CacheShape& shape() const { return shape_; }

  /// A use of the line at this address: a miss brings it in.
  Look access(std::uint64_t address);
  /// A use of each of these lines, in this order; those that miss are left at the beginning. The low two bits of a line
  /// are the caller's. Returns how many miss. For LRU only, and no prefetched lines.
  std::uint32_t access_all(std::uint64_t* lines, std::uint32_t n);
  /// The same, for LRU only; whether it was there. As fast as it can be where nobody knows beforehand what it finds.
  bool touch(std::uint64_t address) {
    std::uint64_t* const set = words_of(address);
    const std::uint64_t tag = tag_of(address, shape_.line_bits);
    // Known numbers, which compilers make straight code of.
    if (shape_.ways == 4) return Lru::use_whole(set, 4, tag);
    if (shape_.ways == 8) return Lru::use_whole(set, 8, tag);
    if (shape_.ways == 16) return Lru::use_whole(set, 16, tag);
    return Lru::use_whole(set, shape_.ways, tag);
  }
  /// Whether it is the most recent line of its set, which a use of it leaves as it is. Levels with LRU only say so;
  /// what a prefetcher brought and nothing has used is not.
  bool is_most_recent(std::uint64_t address) const {
    return shape_.replacement == Replacement::lru && *words_of(address) == tag_of(address, shape_.line_bits);
  }
  /// A use of the line if it is there; a miss changes nothing.
  Look use(std::uint64_t address);
  /// Brings a line in that nothing has asked for yet; nothing changes where it is there already.
  Look prefetch(std::uint64_t address);
  /// The line will be used soon: its set is fetched from memory. Counts and changes nothing.
  void expect(std::uint64_t address) const;
  /// Whether the line is there; changes nothing.
  bool holds(std::uint64_t address) const;
  /// Drops the line, as an inclusive level below does. True where it was there.
  bool remove(std::uint64_t address);
  /// The set of an address: line number modulo the number of sets.
  std::uint32_t set_of(std::uint64_t address) const {
    const std::uint64_t line = address >> shape_.line_bits;
    if ((shape_.sets & (shape_.sets - 1)) == 0) return static_cast<std::uint32_t>(line & (shape_.sets - 1));
    return set_by_division(line);
  }

 private:
  std::uint32_t set_by_division(std::uint64_t line) const;
  template <class Policy>
  Look access_in(std::uint64_t* set, std::uint64_t tag);
  std::uint64_t* words_of(std::uint64_t address) const { return table_ + std::uint64_t{set_of(address)} * set_words_; }

  CacheShape shape_;
  std::uint32_t set_words_ = 0;
  std::uint64_t reciprocal_ = 0;  ///< 2^64 / sets, rounded down: a division costs more than all the rest of a miss
  std::uint64_t* table_ = nullptr;
};

}  // namespace tally::models
