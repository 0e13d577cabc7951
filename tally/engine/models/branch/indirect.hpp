// Targets of indirect jumps and calls: the last one again.
#pragma once

#include <cstdint>

namespace tally::models {

/// A table of last targets, found by the low bits of the branch's address, without a tag. An entry is the negated
/// target, so that generated code sees from one addition, without a change of the flags, whether it was right; zeroes
/// are the state at the beginning.
struct IndirectTargets {
  static constexpr unsigned entries = 512;
  std::uint64_t negated[entries] = {};

  /// An indirect jump or call from `pc` to `target`; true where that was predicted.
  bool predict(std::uint64_t pc, std::uint64_t target) {
    std::uint64_t& entry = negated[pc % entries];
    const bool right = entry + target == 0;
    entry = 0 - target;
    return right;
  }
};

}  // namespace tally::models
