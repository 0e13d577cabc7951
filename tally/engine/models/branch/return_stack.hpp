// The return stack: calls push their return address, returns pop it.
#pragma once

#include <cstdint>

namespace tally::models {

/// A ring of return addresses. They are negated: generated code checks one with an addition and without changing the
/// flags. An overflow overwrites the oldest entry; an underflow
/// reads the entry of an older call. The initial state is all zero. A return without a call counts as predicted if the
/// stale entry happens to match, as in hardware.
struct ReturnStack {
  static constexpr unsigned entries = 32;
  std::uint64_t negated[entries] = {};
  std::uint32_t next = 0;  ///< index of the next call's entry, modulo `entries`

  /// Pushes the return address of a call.
  void call(std::uint64_t address) { negated[next++ % entries] = 0 - address; }

  /// Pops the entry for a return to `target`. Returns whether the prediction was right.
  bool predict(std::uint64_t target) { return negated[--next % entries] + target == 0; }
};

}  // namespace tally::models
