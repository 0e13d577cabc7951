// TAGE: tagged tables of geometric history lengths (A. Seznec, P. Michaud, "A case for (partially) TAgged GEometric
// history length branch prediction", JILP 8, 2006).
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/outcome.hpp"
#include "tally/engine/models/lanes.hpp"

namespace tally::models {

/// A bimodal table and seven tables whose entries are found, and checked, by address and ever longer histories; the
/// longest history that has an entry predicts. 8 KB in hardware: 4,096 two-bit counters (1 KB) and 7 × 512 entries of
/// 16 bits. Call reset() first: zeroes are no valid state. Cost of a branch in play()
/// on a Zen 5, with AVX2 and with SSE2 alone: 4.7 and 5.7 ns in Python, 10.4 and 11 ns in bzip2.
class Tage {
 public:
  static constexpr unsigned tables = 7;
  static constexpr unsigned index_bits = 9;  ///< 512 entries a table
  static constexpr unsigned tag_bits = 11;
  static constexpr unsigned base_entries = 4096;
  /// Outcomes that each table looks at: near 4 · 1.78^i.
  static constexpr unsigned history_lengths[tables] = {4, 7, 13, 23, 40, 72, 128};

  /// The state at the beginning.
  void reset();

  /// A conditional branch at `pc` was taken or not; true where that was predicted.
  bool predict(std::uint64_t pc, bool taken);

  /// `n` conditional branches in their order: how many of them were predicted wrongly. A quarter of
  /// predict()'s time for each, where they are sixteen and more.
  std::uint64_t play(const Outcome* outcomes, std::uint32_t n);

 private:
  /// Its tag above its state (tage.cpp).
  using Entry = std::uint16_t;
  /// As many outcomes as are placed before the first of them is predicted.
  static constexpr std::uint32_t batch = 64;
  /// Where branches are looked for: lanes of the seven tables, the longest history first, and of the base table.
  struct Places {
    alignas(32) Lanes16 where[batch];   ///< an entry in each
    alignas(32) Lanes16 wanted[batch];  ///< the tag it must have, in place
  };

  Lanes16 pass(const Outcome* outcomes, std::uint32_t n);
  void place(const Outcome* outcomes, std::uint32_t n, Places& places);
  void locate_block(const Outcome* outcomes, Places& places);
  bool allocate(const Lanes16& where, const Lanes16& wanted, unsigned provider, unsigned free, bool taken);
  void learn(const Lanes16& where, const Lanes16& wanted, unsigned provider, unsigned free, unsigned key);
  std::uint32_t settle(const Outcome* outcomes, std::uint32_t n, const Places& places);

  static constexpr unsigned tagged_entries = tables << index_bits;
  Entry& entry(const Lanes16& where, unsigned lane) { return entries_[(lane << index_bits) + where.lane[lane]]; }

  Entry entries_[tagged_entries + base_entries];  ///< in the order of lanes
  Lanes16 hash_;                                  ///< of each table's history
  unsigned __int128 history_;                     ///< outcomes, the youngest in bit 0
  std::uint32_t random_;                          ///< spreads allocations over the tables; a fixed sequence
  std::uint32_t failures_;                        ///< of allocations, less successes: when it is high, usefulness ages
  std::int32_t trust_fresh_;  ///< −8 … 7: from 0 on a fresh entry is not believed but its alternate
};

}  // namespace tally::models
