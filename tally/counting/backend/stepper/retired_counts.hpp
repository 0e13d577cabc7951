// Events that the single-stepper counts.
#pragma once

#include <cstdint>

#include "tally/hardware/event/event.hpp"

namespace tally::backend::stepper {

/// A program's counts in user mode, from its first instruction to its exit, inclusive. A REP string instruction is one
/// instruction and `loop` is a conditional branch; loads and stores are element accesses (`cmps` is two loads).
struct RetiredCounts {
  std::uint64_t instructions = 0;
  std::uint64_t conditional = 0;  ///< conditional branches, taken or not
  std::uint64_t taken = 0;        ///< conditional branches taken
  std::uint64_t direct_jumps = 0;
  std::uint64_t indirect_jumps = 0;
  std::uint64_t direct_calls = 0;
  std::uint64_t indirect_calls = 0;
  std::uint64_t returns = 0;
  std::uint64_t far = 0;  ///< system calls: usually only the final exit
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;

  /// Branches of all kinds.
  std::uint64_t branches() const {
    return conditional + direct_jumps + indirect_jumps + direct_calls + indirect_calls + returns + far;
  }

  friend bool operator==(const RetiredCounts&, const RetiredCounts&) = default;
};

/// Computes the count of an event.
using RetiredCount = std::int64_t (*)(const RetiredCounts& counts);

/// Null if the counts of retired instructions do not determine the event.
RetiredCount retired_count(event::Id id);

}  // namespace tally::backend::stepper
