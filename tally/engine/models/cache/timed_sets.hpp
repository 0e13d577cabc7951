// LRU by the time of each line's last use: a hit writes a time and reads no set.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/cache_level.hpp"
#include "tally/engine/models/cache/note.hpp"

namespace tally::models {

/// A level of code and one of data over tables that are lists (lru.hpp). Between begin() and end() the lists are
/// unordered and must not be read by others. A hash table contains lines that are present, one entry per hash of the
/// line number: a hit compares one word and writes another. If the entry is empty or has another line, the line's set
/// is searched; times matter only there. Owns no memory.
class TimedSets {
 public:
  /// Returns the number of words in addition to the levels' tables. Initially zero; unused words are never touched.
  static std::uint64_t words(const CacheShape& code, const CacheShape& data);
  /// Whether both levels are LRU and have lines of the same length.
  static bool fits(const CacheShape& code, const CacheShape& data);

  TimedSets() = default;
  TimedSets(const LevelTable& code, const LevelTable& data, std::uint64_t* words);
  /// Returns the same levels over copies of all tables.
  TimedSets over(std::uint64_t* code, std::uint64_t* data, std::uint64_t* words) const;

  /// Starts from ordered lists. Cost: a few microseconds for a first level.
  void begin();
  /// Orders the lists. Cost: some ten microseconds for a first level.
  void end();

  /// Uses these lines in order. Writes the indices of those that miss to `missed`, in ascending order, and returns
  /// their number. Not for prefetched lines. Cost: 1 ns for a line in the hash table, 15 to 30 ns for a search of its
  /// set.
  std::uint32_t use_all(const Note* notes, std::uint32_t n, std::uint32_t* missed);
  /// Returns how many lines of the last use_all() needed a search of their set.
  std::uint32_t sought() const { return sought_; }

 private:
  /// A line that is present, by the complement of its number; 0 for none.
  struct PresentLine {
    std::uint64_t line;
    std::uint64_t time;  ///< of its last use
  };
  static constexpr std::uint32_t known_bits = 13;
  static constexpr std::uint32_t known_size = 1u << known_bits;

  struct Level {
    Cache cache;
    std::uint64_t* ways = nullptr;   ///< of a set in any order
    std::uint64_t* times = nullptr;  ///< of the ways that are not in the hash table
    PresentLine* known = nullptr;
  };

  void lay_out(std::uint64_t* code, std::uint64_t* data, std::uint64_t* words);
  static PresentLine& at(PresentLine* known, std::uint64_t line) {
    return known[(line ^ line >> known_bits) & (known_size - 1)];
  }
  std::uint64_t number_of(std::uint64_t tag) const { return tag >> line_bits_; }
  bool seek(Level& level, PresentLine& known, std::uint64_t line);
  std::uint32_t oldest(const Level& level, std::uint64_t first) const;
  void sort(Level& level, std::uint64_t first);

  Level code_, data_;
  unsigned line_bits_ = 6;
  std::uint64_t clock_ = 0;
  std::uint32_t sought_ = 0;
};

}  // namespace tally::models
