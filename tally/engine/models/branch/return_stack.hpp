// The return stack: calls push where they return to, returns take it from there.
#pragma once

#include <cstdint>

namespace tally::models {

/// A ring of return addresses, negated as in IndirectTargets. One too many overwrites the oldest; one too few reads
/// what an older call left. Zeroes are the state at the beginning. A return with no call before it that happens to go
/// where the stale entry says is predicted, as in hardware.
struct ReturnStack {
  static constexpr unsigned entries = 16;
  std::uint64_t negated[entries] = {};
  std::uint32_t next = 0;  ///< where the next call's address goes, modulo `entries`

  /// A call that returns to `address`.
  void call(std::uint64_t address) { negated[next++ % entries] = 0 - address; }

  /// A return to `target`; true where that was predicted.
  bool predict(std::uint64_t target) { return negated[--next % entries] + target == 0; }
};

}  // namespace tally::models
