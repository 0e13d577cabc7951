// TAGE: tagged tables with geometric history lengths (A. Seznec, P. Michaud, "A case for (partially) TAgged GEometric
// history length branch prediction", JILP 8, 2006).
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/indirect.hpp"
#include "tally/engine/models/branch/outcome.hpp"
#include "tally/engine/models/lanes.hpp"

namespace tally::models {

/// Branches that were predicted wrongly.
struct Mispredictions {
  std::uint64_t conditional = 0, indirect = 0;
  std::uint64_t words() const { return conditional + 2 * indirect; }
  bool operator==(const Mispredictions&) const = default;
};

/// A bimodal table and seven tables whose entries are indexed and tagged by address and histories of increasing length;
/// tags also by the next shorter history. The longest history with a matching entry predicts. 128 KB in hardware:
/// 65,536 two-bit counters (16 KB) and 7 × 8,192 entries of 16 bits: a Zen 5 (2026-11-30) repeats 24,000 random
/// outcomes of one branch. Targets of indirect branches are predicted with the same history, of which each is two
/// outcomes that depend on its target (IndirectTargets). Call reset() first: all zero is not a valid state. Cost per
/// branch in play(), on a Zen 5 with AVX2 (2026-11-30, load 6): 4.7 ns for patterns of 1,000 outcomes, 18 ns for noise
/// of 3,000 branches.
class Tage {
 public:
  static constexpr unsigned tables = 7;
  static constexpr unsigned index_bits = 13;  ///< 8,192 entries per table
  static constexpr unsigned tag_bits = 11;
  static constexpr unsigned base_entries = 65536;
  /// History lengths of the tables: near 4 · 1.78^i.
  static constexpr unsigned history_lengths[tables] = {4, 7, 13, 23, 40, 72, 128};

  /// Sets the initial state.
  void reset();

  /// Updates the predictor with a conditional branch at `pc`. Returns whether the prediction was right.
  bool predict(std::uint64_t pc, bool taken);

  /// Updates the predictor with an indirect jump or call from `pc` to `target`. Returns whether the prediction was
  /// right.
  bool predict_target(std::uint64_t pc, std::uint64_t target);

  /// Updates the predictor with the branches of `n` words in order. Costs a quarter of predict()'s time per branch for
  /// 16 branches or more. If `wrong` is not null, the words of mispredicted branches are written there; it may be
  /// `words`.
  Mispredictions play(const Outcome* words, std::uint32_t n, Outcome* wrong = nullptr);

 private:
  /// A tag above a state (tage.cpp).
  using Entry = std::uint16_t;
  /// The number of branches whose indices are computed before the first of them is predicted.
  static constexpr std::uint32_t batch = 64;
  /// The indices and tags of branches: one lane for each of the seven tables, the longest history first, and one for
  /// the base table.
  struct Places {
    alignas(32) Lanes16 where[batch];   ///< index of the entry in each table
    alignas(32) Lanes16 wanted[batch];  ///< the tag that the entry must have, shifted as in an entry
  };

  Lanes16 pass(const Outcome* outcomes, std::uint32_t n);
  void place(const Outcome* outcomes, std::uint32_t n, Places& places);
  void locate_batch(const Outcome* outcomes, Places& places);
  bool allocate(const Lanes16& where, const Lanes16& wanted, unsigned provider, unsigned free, bool taken);
  void learn(const Lanes16& where, const Lanes16& wanted, unsigned provider, unsigned free, unsigned key);
  std::uint32_t settle(const Outcome* outcomes, std::uint32_t from, std::uint32_t to, const Places& places,
                       Outcome*& wrong);

  static constexpr unsigned tagged_entries = tables << index_bits;
  Entry& entry(const Lanes16& where, unsigned lane) { return entries_[(lane << index_bits) + where.lane[lane]]; }

  Entry entries_[tagged_entries + base_entries];  ///< in the order of lanes
  Lanes16 hash_;                                  ///< of each table's history
  unsigned __int128 history_;                     ///< outcomes, the latest in bit 0
  std::uint32_t random_;                          ///< distributes allocations over the tables; a fixed sequence
  std::uint32_t failures_;  ///< allocation failures minus successes; a high value ages the useful counters
  IndirectTargets targets_;
  std::int32_t trust_fresh_;  ///< −8 … 7: from 0 on the alternate prediction replaces that of a fresh entry
};

}  // namespace tally::models
