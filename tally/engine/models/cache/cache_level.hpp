// One cache level or TLB: the lines (pages) that it holds. It models addresses, not contents.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/lru.hpp"
#include "tally/engine/models/cache/tag.hpp"
#include "tally/engine/models/cache/tree_plru.hpp"

namespace tally::models {

/// The line of a full set that is replaced.
enum class Replacement : std::uint8_t {
  lru,        ///< the least recently used one
  tree_plru,  ///< the one that a tree of bits selects
};

/// The most ways of a level; tree pseudo-LRU keeps a bit per way in one word.
constexpr std::uint32_t most_ways = 64;

/// The parameters of a level. Plain data: the command passes it to the engine unchanged.
struct CacheShape {
  std::uint32_t sets = 0;      ///< any number, not only powers of two; 0: the level does not exist
  std::uint32_t ways = 0;      ///< lines per set: 1 to most_ways
  std::uint8_t line_bits = 6;  ///< log2 of a line's bytes (for a TLB: a page's): 2 to 30
  Replacement replacement = Replacement::lru;
  bool write_allocate =
      true;  ///< a store that misses allocates the line; otherwise it goes to the next level and changes nothing
  bool inclusive = false;  ///< a line that leaves this level is also removed from the levels above it
  bool operator==(const CacheShape&) const = default;

  /// Returns the capacity in bytes.
  constexpr std::uint64_t size_bytes() const { return (std::uint64_t{sets} * ways) << line_bits; }
};

/// Returns the number of words (8 bytes each) of a level's table. A table is initially zero. Words of sets that are
/// never used are not touched, so they may be reserved without backing memory.
constexpr std::uint64_t table_words(const CacheShape& shape) {
  const std::uint32_t set_words =
      shape.replacement == Replacement::lru ? Lru::words(shape.ways) : TreePlru::words(shape.ways);
  return std::uint64_t{shape.sets} * set_words;
}

/// A level and its table; a level without sets does not exist.
struct LevelTable {
  const CacheShape& shape;
  std::uint64_t* words;
};

/// The result of a lookup in a level.
struct Lookup {
  bool hit = false;                   ///< the line was present
  bool first_use = false;             ///< the line was prefetched and this is its first use
  std::uint64_t displaced = no_line;  ///< address of the line that was replaced
};

/// One level. It owns no memory; copies are views of the same tables.
class Cache {
 public:
  /// A level that does not exist: `exists()` is false, and nothing else may be called.
  Cache() = default;
  /// A level over `table`, whose table_words(shape) words are zero or come from a level of the same shape. `set_words`:
  /// the distance between sets, if it is larger than a set.
  Cache(const CacheShape& shape, std::uint64_t* table, std::uint32_t set_words = 0);

  bool exists() const { return table_ != nullptr; }
  const CacheShape& shape() const { return shape_; }
  LevelTable table() const { return {shape_, table_}; }

  /// Uses the line at this address; a miss allocates it.
  Lookup access(std::uint64_t address);
  /// Uses each of these lines in order and moves those that miss to the front of `lines`. The low two bits of a line
  /// are the caller's. Returns the number of misses. For LRU only, without prefetched lines.
  std::uint32_t access_all(std::uint64_t* lines, std::uint32_t n);
  /// The same for one line, for LRU only. Returns whether it hit. Optimized for unpredictable results.
  bool touch(std::uint64_t address) {
    std::uint64_t* const set = words_of(address);
    const std::uint64_t tag = tag_of(address, shape_.line_bits);
    // Constants, for which compilers generate straight-line code.
    if (shape_.ways == 4) return Lru::use_whole(set, 4, tag);
    if (shape_.ways == 8) return Lru::use_whole(set, 8, tag);
    if (shape_.ways == 16) return Lru::use_whole(set, 16, tag);
    return Lru::use_whole(set, shape_.ways, tag);
  }
  /// Whether it is the most recent line of its set, so that a use of it changes nothing. False for levels without LRU,
  /// and for a prefetched line that was not used yet.
  bool is_most_recent(std::uint64_t address) const {
    return shape_.replacement == Replacement::lru && *words_of(address) == tag_of(address, shape_.line_bits);
  }
  /// Uses the line if it is present; a miss changes nothing.
  Lookup use(std::uint64_t address);
  /// Prefetches a line; changes nothing if it is present.
  Lookup prefetch(std::uint64_t address);
  /// Prefetches the set of a line from host memory for a later use. Counts and changes nothing.
  void expect(std::uint64_t address) const;
  /// Whether the line is present; changes nothing.
  bool holds(std::uint64_t address) const;
  /// Removes the line, as an inclusive level below does. Returns whether it was present.
  bool remove(std::uint64_t address);
  /// Returns the set of an address: line number modulo the number of sets.
  std::uint32_t set_of(std::uint64_t address) const {
    const std::uint64_t line = address >> shape_.line_bits;
    if ((shape_.sets & (shape_.sets - 1)) == 0) return static_cast<std::uint32_t>(line & (shape_.sets - 1));
    return set_by_division(line);
  }

 private:
  std::uint32_t set_by_division(std::uint64_t line) const;
  template <class Policy>
  Lookup access_in(std::uint64_t* set, std::uint64_t tag);
  std::uint64_t* words_of(std::uint64_t address) const { return table_ + std::uint64_t{set_of(address)} * set_words_; }

  CacheShape shape_;
  std::uint32_t set_words_ = 0;
  std::uint64_t reciprocal_ = 0;  ///< 2^64 / sets, rounded down: a division costs more than the rest of a miss
  std::uint64_t* table_ = nullptr;
};

}  // namespace tally::models
