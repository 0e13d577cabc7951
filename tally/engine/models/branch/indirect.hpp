// Target prediction of indirect jumps and calls: the same target as the last time.
#pragma once

#include <cstdint>

namespace tally::models {

/// A table of last targets without tags, indexed by the branch's address, folded to nine bits. An entry is the negated
/// target: generated code checks it with one addition and without changing the flags. The initial state is all zero.
struct IndirectTargets {
  static constexpr unsigned entries = 512;
  std::uint64_t negated[entries] = {};

  /// Returns the entry of a branch. The low bits alone are not enough: jumps in a procedure linkage table are 16 bytes
  /// apart, so they would use 32 entries. 512 of them in a row use all entries.
  static constexpr unsigned index_of(std::uint64_t pc) {
    return static_cast<unsigned>((pc ^ pc >> 9 ^ pc >> 18) % entries);
  }

  /// Updates the table with an indirect jump or call from `pc` to `target`. Returns whether the prediction was right.
  bool predict(std::uint64_t pc, std::uint64_t target) {
    std::uint64_t& entry = negated[index_of(pc)];
    const bool right = entry + target == 0;
    entry = 0 - target;
    return right;
  }
};

}  // namespace tally::models
