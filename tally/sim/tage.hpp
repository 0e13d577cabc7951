// TAGE: tagged tables of geometric history lengths (A. Seznec, P. Michaud, "A case for (partially) TAgged GEometric
// history length branch prediction", JILP 8, 2006).
#pragma once

#include <cstdint>

#include "tally/sim/counter2.hpp"

namespace tally::sim {

/// A bimodal table and seven tables whose entries are found, and checked, by address and ever longer histories; the
/// longest history that has an entry predicts. 8 KB in hardware: 4,096 two-bit counters (1 KB) and 7 × 512 entries of
/// 16 bits. Cost: some 15 ns a branch. Call reset() first: zeroes are no valid state.
class Tage {
 public:
  static constexpr unsigned tables = 7;
  static constexpr unsigned index_bits = 9;  ///< 512 entries a table
  static constexpr unsigned tag_bits = 11;
  static constexpr unsigned base_entries = 4096;
  /// Outcomes that each table looks at: near 4 · 1.78^i.
  static constexpr unsigned history_lengths[tables] = {4, 7, 13, 23, 40, 72, 128};

  /// A branch at `pc` that was taken or not, in 32 bits: a hash of its address, `low 31 bits of (pc ^ pc >> 32)`, above
  /// its outcome. It is all that the predictor goes by.
  static constexpr std::uint32_t word(std::uint64_t pc, bool taken) {
    return static_cast<std::uint32_t>(pc ^ pc >> 32) << 1 | static_cast<std::uint32_t>(taken);
  }

  /// The state at the beginning.
  void reset();

  /// A conditional branch at `pc` was taken or not; true where that was predicted.
  bool predict(std::uint64_t pc, bool taken);

  /// `n` conditional branches as word() makes them, in their order: how many of them were predicted wrongly. Cheaper
  /// for each than predict().
  std::uint64_t play(const std::uint32_t* words, std::uint32_t n);

 private:
  /// 16 bits in hardware: tag 11, counter 3, useful 2.
  struct Entry {
    std::uint16_t tag = 0;
    std::int8_t counter = 0;  ///< −4 … 3; taken from 0 on
    std::uint8_t useful = 0;  ///< 0 … 3: how often it was right where the next shorter history was wrong
  };
  /// The newest `length` outcomes of the history, folded into `bits` bits by exclusive or, kept up to date bit by bit.
  struct Folded {
    std::uint32_t value = 0;
    void shift(unsigned length, unsigned bits, bool in, bool out);
  };
  /// Where a branch is looked for, and what was found.
  struct Lookup {
    std::uint16_t index[tables];
    std::uint16_t tag[tables];
    int provider = -1;   ///< table that predicts, −1 for the bimodal one
    int alternate = -1;  ///< table that would, had the provider no entry
    bool provided = false, alternative = false;
    bool fresh = false;  ///< the provider's entry is new: weak, and never useful yet
    bool prediction = false;
  };

  Lookup look_up(std::uint32_t hash) const;
  bool says(int table, const Lookup& lookup, std::uint32_t hash) const;
  void allocate(const Lookup& lookup, bool taken);
  void train(const Lookup& lookup, std::uint32_t hash, bool taken);
  void remember(bool taken);

  Entry entries_[tables][1u << index_bits];
  Counter2 base_[base_entries];
  Folded index_[tables], tag_[tables], tag2_[tables];
  unsigned __int128 history_;  ///< outcomes, the youngest in bit 0
  std::uint32_t random_;       ///< spreads allocations over the tables; a fixed sequence
  std::uint32_t failures_;     ///< of allocations, less successes: when it is high, usefulness ages
  std::int32_t trust_fresh_;   ///< −8 … 7: from 0 on a fresh entry is not believed but its alternate
};

}  // namespace tally::sim
