// Bimodal prediction: a branch goes where it went before (J. E. Smith, "A study of branch prediction strategies",
// 1981).
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/counter2.hpp"

namespace tally::models {

/// A table of two-bit counters, found by the branch's address alone. Zeroes, "not taken", are the state at the
/// beginning.
struct Bimodal {
  static constexpr unsigned entries = 16384;  ///< 4 KB of two-bit counters in hardware; a byte each here
  Counter2 counters[entries] = {};

  /// A conditional branch at `pc` was taken or not; true where that was predicted.
  bool predict(std::uint64_t pc, bool taken) {
    Counter2& counter = counters[pc % entries];
    const bool right = predicts_taken(counter) == taken;
    counter = trained(counter, taken);
    return right;
  }
};

}  // namespace tally::models
