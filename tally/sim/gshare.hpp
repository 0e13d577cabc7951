// Gshare: counters found by address and global history (S. McFarling, "Combining branch predictors", DEC WRL TN-36,
// 1993).
#pragma once

#include <cstdint>

#include "tally/sim/counter2.hpp"
#include "tally/sim/outcome.hpp"

namespace tally::sim {

/// A table of two-bit counters, found by the exclusive or of the branch's address and the outcomes of the last 14
/// conditional branches, the youngest in bit 0. Zeroes are the state at the beginning. A counter at its end that
/// predicts rightly does not change, which lets generated code leave with one comparison.
struct Gshare {
  static constexpr unsigned entries = 16384;  ///< 4 KB of two-bit counters in hardware; a byte each here
  std::uint32_t history = 0;                  ///< bits above the 14 that count are older outcomes, and unused
  Counter2 counters[entries] = {};

  /// A conditional branch at `pc` was taken or not; true where that was predicted.
  bool predict(std::uint64_t pc, bool taken) {
    Counter2& counter = counters[(static_cast<std::uint32_t>(pc) ^ history) % entries];
    const bool right = predicts_taken(counter) == taken;
    counter = trained(counter, taken);
    history = history << 1 | static_cast<std::uint32_t>(taken);
    return right;
  }

  /// So many branches in their order; how many were predicted wrongly. Cost: some 2 ns each, whatever they do.
  std::uint64_t play(const Outcome* outcomes, std::uint32_t n) {
    std::uint64_t wrong = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t taken = outcomes[i] & 1;
      Counter2& counter = counters[(address_of(outcomes[i]) ^ history) % entries];
      wrong += (counter >> 1 ^ taken) & 1;
      // trained() without a jump: two bits for each counter, and those for "taken" behind the others.
      constexpr std::uint32_t next = trained(0, false) | trained(1, false) << 2 | trained(2, false) << 4 |
                                     trained(3, false) << 6 | trained(0, true) << 8 | trained(1, true) << 10 |
                                     trained(2, true) << 12 | trained(3, true) << 14;
      counter = next >> (taken * 8 + counter * 2u) & 3;
      history = history << 1 | taken;
    }
    return wrong;
  }
};

}  // namespace tally::sim
