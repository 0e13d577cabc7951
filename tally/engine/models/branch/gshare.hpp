// Gshare: counters indexed by address and global history (S. McFarling, "Combining branch predictors", DEC WRL TN-36,
// 1993).
#pragma once

#include <array>
#include <cstdint>

#include "tally/engine/models/branch/counter2.hpp"
#include "tally/engine/models/branch/outcome.hpp"

namespace tally::models {

/// The effect of a branch in one word, so that one addition counts all of it: the counter's new state in the low bits,
/// above it the number of mispredictions and the number of changed counters.
struct GshareSteps {
  static constexpr std::uint32_t most = 256;  ///< branches in a sum
  static constexpr unsigned wrong_bit = 10, changed_bit = 20;
  static constexpr std::uint32_t wrong_in(std::uint32_t sum) { return sum >> wrong_bit & (2 * most - 1); }
  static constexpr std::uint32_t changed_in(std::uint32_t sum) { return sum >> changed_bit; }

  /// Indexed by the counter, plus 4 if the branch was taken.
  static constexpr auto of = [] {
    std::array<std::uint32_t, 8> steps{};
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      const auto counter = static_cast<Counter2>(i % 4);
      const bool taken = i >= 4;
      const Counter2 next = trained(counter, taken);
      steps[i] = next | std::uint32_t{predicts_taken(counter) != taken} << wrong_bit |
                 std::uint32_t{next != counter} << changed_bit;
    }
    return steps;
  }();
};

/// A table of two-bit counters, indexed by the exclusive or of the branch's address and the outcomes of the last 14
/// conditional branches, the latest in bit 0. The initial state is all zero. A saturated counter that predicts right
/// does not change, so generated code can exit after one comparison.
struct Gshare {
  static constexpr unsigned entries = 16384;  ///< 4 KB of two-bit counters in hardware; one byte each here
  std::uint32_t history = 0;                  ///< bits above the lowest 14 are older outcomes, and unused
  Counter2 counters[entries] = {};

  /// Updates the table with a conditional branch at `pc`. Returns whether the prediction was right.
  bool predict(std::uint64_t pc, bool taken) {
    Counter2& counter = counters[(static_cast<std::uint32_t>(pc) ^ history) % entries];
    const bool right = predicts_taken(counter) == taken;
    counter = trained(counter, taken);
    history = history << 1 | static_cast<std::uint32_t>(taken);
    return right;
  }

  /// Updates the table with `n` branches in order. Returns the number of mispredictions. Cost: some 1 ns each.
  std::uint64_t play(const Outcome* outcomes, std::uint32_t n) {
    // The previous batch selects the variant: a mispredicted jump costs the time that some thirty skipped updates save.
    constexpr std::uint32_t settled_share = 32;
    std::uint64_t wrong = 0;
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < n; i += GshareSteps::most) {
      const std::uint32_t some = n - i < GshareSteps::most ? n - i : GshareSteps::most;
      last = GshareSteps::changed_in(last) * settled_share < GshareSteps::most ? play_settled(outcomes + i, some)
                                                                               : play_any(outcomes + i, some);
      wrong += GshareSteps::wrong_in(last);
    }
    return wrong;
  }

 private:
  // The history is in a local variable, because the compiler must assume that a written counter is a part of it.
  Counter2& counter_of(Outcome outcome, std::uint32_t past) { return counters[(address_of(outcome) ^ past) % entries]; }

  /// Updates without conditional jumps, so the time does not depend on the predictability of the branches.
  std::uint32_t play_any(const Outcome* outcomes, std::uint32_t n) {
    std::uint32_t sum = 0, past = history;
#pragma GCC unroll 2
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t taken = outcomes[i] & 1;
      Counter2& counter = counter_of(outcomes[i], past);
      const std::uint32_t now = GshareSteps::of[counter + 4 * taken];
      counter = static_cast<Counter2>(now);
      sum += now;
      past = past << 1 | taken;
    }
    history = past;
    return sum;
  }

  /// Skips counters that do not change, so that no branch waits for a counter that was just written.
  std::uint32_t play_settled(const Outcome* outcomes, std::uint32_t n) {
    std::uint32_t sum = 0, past = history;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t taken = outcomes[i] & 1;
      Counter2& counter = counter_of(outcomes[i], past);
      past = past << 1 | taken;
      if (counter == 3 * taken) continue;
      const std::uint32_t now = GshareSteps::of[counter + 4 * taken];
      counter = static_cast<Counter2>(now);
      sum += now;
    }
    history = past;
    return sum;
  }
};

}  // namespace tally::models
