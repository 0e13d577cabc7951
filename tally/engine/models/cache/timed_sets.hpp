// LRU by the time of each line's last use: where a line is there, a use of it writes a time and looks at no set.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache.hpp"
#include "tally/engine/models/cache/note.hpp"

namespace tally::models {

/// A level of code and one of data over tables that are lists (lru.hpp). Between begin() and end() the lists are in no
/// order, and nobody else may look at them. What is there is known by a table of all lines, which has a place for each
/// at a hash of its number: a use compares one word and writes another. Another line at that place, or none, is looked
/// for in its set; only there do times matter. Owns no memory.
class TimedSets {
 public:
  /// Words of memory besides the levels' own; zeroes at first. Those that are never used are never touched.
  static std::uint64_t words(const CacheShape& code, const CacheShape& data);
  /// LRU, and lines of one length.
  static bool fits(const CacheShape& code, const CacheShape& data);

  TimedSets() = default;
  TimedSets(const LevelTable& code, const LevelTable& data, std::uint64_t* words);
  /// The same, as it goes on over copies of all tables.
  TimedSets over(std::uint64_t* code, std::uint64_t* data, std::uint64_t* words) const;

  /// From lists in order. Cost: a few microseconds for a first level.
  void begin();
  /// Puts the lists in order. Cost: some ten microseconds for a first level.
  void end();

  /// Uses of these lines in their order. The places of those that were not there are written in `missed`, rising;
  /// returns how many. No prefetched lines. Cost: 1 ns for a line that is there, 15 to 30 where its set is looked at.
  std::uint32_t use_all(const Note* notes, std::uint32_t n, std::uint32_t* missed);
  /// How many of the last use_all() had their sets looked at.
  std::uint32_t sought() const { return sought_; }

 private:
  /// A line that is there, by the complement of its number; 0 for none.
  struct Known {
    std::uint64_t line;
    std::uint64_t time;  ///< of its last use
  };
  static constexpr std::uint32_t known_bits = 13;
  static constexpr std::uint32_t known_size = 1u << known_bits;

  struct Level {
    Cache cache;
    std::uint64_t* ways = nullptr;   ///< a set's in any order
    std::uint64_t* times = nullptr;  ///< of those ways that are not known
    Known* known = nullptr;
  };

  void lay_out(std::uint64_t* code, std::uint64_t* data, std::uint64_t* words);
  static Known& at(Known* known, std::uint64_t line) { return known[(line ^ line >> known_bits) & (known_size - 1)]; }
  std::uint64_t number_of(std::uint64_t tag) const { return tag >> line_bits_; }
  bool seek(Level& level, Known& known, std::uint64_t line);
  std::uint32_t oldest(const Level& level, std::uint64_t first) const;
  void sort(Level& level, std::uint64_t first);

  Level code_, data_;
  unsigned line_bits_ = 6;
  std::uint64_t clock_ = 0;
  std::uint32_t sought_ = 0;
};

}  // namespace tally::models
