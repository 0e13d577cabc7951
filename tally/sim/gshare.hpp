// Gshare: counters found by address and global history (S. McFarling, "Combining branch predictors", DEC WRL TN-36,
// 1993).
#pragma once

#include <cstdint>

#include "tally/sim/counter2.hpp"

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
};

}  // namespace tally::sim
