// Target prediction of indirect jumps and calls: the same target as the last time.
#pragma once

#include <cstdint>

namespace tally::models {

/// A table of last targets without tags, indexed by the low bits of the branch's address. An entry is the negated
/// target: generated code checks it with one addition and without changing the flags. The initial state is all zero.
struct IndirectTargets {
  static constexpr unsigned entries = 512;
  std::uint64_t negated[entries] = {};

  /// Updates the table with an indirect jump or call from `pc` to `target`. Returns whether the prediction was right.
  bool predict(std::uint64_t pc, std::uint64_t target) {
    std::uint64_t& entry = negated[pc % entries];
    const bool right = entry + target == 0;
    entry = 0 - target;
    return right;
  }
};

}  // namespace tally::models
