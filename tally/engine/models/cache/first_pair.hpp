// The first level of code and that of data, caches or TLBs, with lookups in batches.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/note.hpp"
#include "tally/engine/models/cache/timed_sets.hpp"
#include "tally/engine/models/cache/vector_sets.hpp"

namespace tally::models {

/// Two LRU levels, of which at least one exists; notes are only for an existing one. Each batch uses the fastest method
/// for the recent notes: vectors if the shape fits, lists otherwise, and `times` as long as nearly all lines hit.
class FirstPair {
 public:
  /// The most notes for one find().
  static constexpr std::uint32_t batch = 512;

  /// Returns the number of words of the `times` table. Initially zero; most words are never touched. 0 if the shapes do
  /// not fit.
  static std::uint64_t time_words(const CacheShape& code, const CacheShape& data) {
    return TimedSets::fits(code, data) ? TimedSets::words(code, data) : 0;
  }

  FirstPair() = default;
  /// `times`: null for none.
  FirstPair(const LevelTable& code, const LevelTable& data, std::uint64_t* times);
  /// Returns the same levels over copies of all tables.
  FirstPair over(std::uint64_t* code, std::uint64_t* data, std::uint64_t* times) const;

  const Cache& code() const { return code_; }
  const Cache& data() const { return data_; }
  /// Whether a method other than lists is available.
  bool is_quick() const { return by_vectors_ || has_times_; }

  /// Uses these lines in order, at most a batch. Writes the indices of those that miss to `missed`, in ascending order,
  /// and returns their number.
  std::uint32_t find(const Note* notes, std::uint32_t n, std::uint32_t (&missed)[batch]);

 private:
  void choose(std::uint32_t n, std::uint32_t costly);

  Cache code_, data_;
  VectorLevel vector_levels_[4];  // by Access, over the same tables
  bool by_vectors_ = false;
  TimedSets timed_;
  bool has_times_ = false, by_times_ = false;
  std::uint64_t looked_ = 0, costly_ = 0;  // since the last choice of a method
  std::uint64_t patience_ = 1 << 14;       // notes before `times` is chosen
};

}  // namespace tally::models
