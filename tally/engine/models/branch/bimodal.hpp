// Bimodal prediction: a branch repeats its usual direction (J. E. Smith, "A study of branch prediction strategies",
// 1981).
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/counter2.hpp"

namespace tally::models {

/// A table of two-bit counters, indexed by the branch's address alone. The initial state is all zero: "not taken".
struct Bimodal {
  static constexpr unsigned entries = 16384;  ///< 4 KB of two-bit counters in hardware; one byte each here
  Counter2 counters[entries] = {};

  /// Updates the table with a conditional branch at `pc`. Returns whether the prediction was right.
  bool predict(std::uint64_t pc, bool taken) {
    Counter2& counter = counters[pc % entries];
    const bool right = predicts_taken(counter) == taken;
    counter = trained(counter, taken);
    return right;
  }
};

}  // namespace tally::models
