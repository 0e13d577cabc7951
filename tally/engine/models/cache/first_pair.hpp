// The first level of code and that of data, caches or TLBs, as they are looked up many at a time.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/note.hpp"
#include "tally/engine/models/cache/timed_sets.hpp"
#include "tally/engine/models/cache/vector_sets.hpp"

namespace tally::models {

/// Two levels with LRU, of which at least one exists; notes are for one that does. They are looked up in whichever way
/// is the quickest for what is noted: in vectors where they fit, in lists where they do not, and by times as long as
/// nearly all is there.
class FirstPair {
 public:
  /// Notes that one find() takes.
  static constexpr std::uint32_t batch = 512;

  /// Words of memory for times; zeroes at first, most of them never touched. 0 where they do not fit.
  static std::uint64_t time_words(const CacheShape& code, const CacheShape& data) {
    return TimedSets::fits(code, data) ? TimedSets::words(code, data) : 0;
  }

  FirstPair() = default;
  /// `times`: null for none.
  FirstPair(const LevelTable& code, const LevelTable& data, std::uint64_t* times);
  /// The same, as it goes on over copies of all tables.
  FirstPair over(std::uint64_t* code, std::uint64_t* data, std::uint64_t* times) const;

  const Cache& code() const { return code_; }
  const Cache& data() const { return data_; }
  /// Whether more is there to look by than lists.
  bool is_quick() const { return by_vectors_ || has_times_; }

  /// Uses of these lines in their order, a stretch of them at most. The places of those that miss are written in
  /// `missed`, rising; returns how many.
  std::uint32_t find(const Note* notes, std::uint32_t n, std::uint32_t (&missed)[batch]);

 private:
  void choose(std::uint32_t n, std::uint32_t costly);

  Cache code_, data_;
  VectorLevel vector_levels_[4];  // by Access, the same tables
  bool by_vectors_ = false;
  TimedSets timed_;
  bool has_times_ = false, by_times_ = false;
  std::uint64_t looked_ = 0, costly_ = 0;  // since the last choice
  std::uint64_t patience_ = 1 << 14;       // notes before times are chosen
};

}  // namespace tally::models
