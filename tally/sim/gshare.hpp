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

  /// So many branches in their order; how many were predicted wrongly. Cost: 1 to 2 ns each.
  std::uint64_t play(const Outcome* outcomes, std::uint32_t n) {
    // A chunk is played as the one before it says: where more than one counter of twelve changes, jumps cost more than
    // they save (gzip, bzip2, sqlite3 and a loop, on an AMD EPYC).
    constexpr std::uint32_t chunk = 256, settled_share = 12;
    std::uint64_t wrong = 0;
    std::uint32_t unsettled = 0;
    for (std::uint32_t i = 0; i < n; i += chunk) {
      const std::uint32_t some = n - i < chunk ? n - i : chunk;
      wrong += unsettled * settled_share < chunk ? play_settled(outcomes + i, some, unsettled)
                                                 : play_any(outcomes + i, some, unsettled);
    }
    return wrong;
  }

 private:
  Counter2& counter_of(Outcome outcome) { return counters[(address_of(outcome) ^ history) % entries]; }

  /// Jumps over a counter that stays as it is: nothing waits for one that was written just before.
  std::uint64_t play_settled(const Outcome* outcomes, std::uint32_t n, std::uint32_t& unsettled) {
    std::uint64_t wrong = 0;
    unsettled = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      Counter2& counter = counter_of(outcomes[i]);
      const bool taken = was_taken(outcomes[i]);
      history = history << 1 | static_cast<std::uint32_t>(taken);
      if (counter == (taken ? 3 : 0)) continue;
      ++unsettled;
      wrong += predicts_taken(counter) != taken;
      counter = trained(counter, taken);
    }
    return wrong;
  }

  /// Jumps nowhere: it does not matter whether a processor can foretell what is settled.
  std::uint64_t play_any(const Outcome* outcomes, std::uint32_t n, std::uint32_t& unsettled) {
    // trained(): two bits for each counter, and those for "taken" behind the others.
    constexpr std::uint32_t next = trained(0, false) | trained(1, false) << 2 | trained(2, false) << 4 |
                                   trained(3, false) << 6 | trained(0, true) << 8 | trained(1, true) << 10 |
                                   trained(2, true) << 12 | trained(3, true) << 14;
    std::uint64_t wrong = 0;
    unsettled = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      Counter2& counter = counter_of(outcomes[i]);
      const std::uint32_t taken = outcomes[i] & 1, trained_to = next >> (taken * 8 + counter * 2u) & 3;
      wrong += (counter >> 1 ^ taken) & 1;
      unsettled += counter != trained_to;
      counter = static_cast<Counter2>(trained_to);
      history = history << 1 | taken;
    }
    return wrong;
  }
};

}  // namespace tally::sim
