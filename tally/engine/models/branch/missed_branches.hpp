// The branches that were mispredicted most often.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "tally/engine/models/branch/outcome.hpp"

namespace tally::models {

/// Mispredictions by branch and direction, of indirect branches also by target, in memory that may contain anything;
/// zero is empty. A branch without a slot takes mispredictions from the rarer of two others, as in a vote, so frequent
/// branches remain.
struct MissedBranches {
  static constexpr unsigned slots = 256;

  std::uint64_t all = 0;           ///< mispredictions of all branches
  std::uint64_t indirect = 0;      ///< those of indirect ones
  std::uint64_t slot[slots] = {};  ///< in the low half the outcome, in the high half how often

  /// Adds mispredictions of one outcome. `all` and `indirect` do not change.
  void add(Outcome outcome, std::uint64_t times) {
    const unsigned first = first_slot(outcome);
    std::uint64_t* rarer = nullptr;
    for (const unsigned i : {first, first ^ 1}) {
      const bool is_same = static_cast<Outcome>(slot[i]) == outcome;
      if (is_same || times_in(i) == 0) {
        const std::uint64_t sum = (is_same ? times_in(i) : 0) + times;
        slot[i] = (sum < UINT32_MAX ? sum : UINT32_MAX) << 32 | outcome;
        return;
      }
      if (rarer == nullptr || slot[i] < *rarer) rarer = &slot[i];
    }
    const std::uint64_t others = *rarer >> 32;
    *rarer = others >= times ? (others - times) << 32 | static_cast<Outcome>(*rarer) : (times - others) << 32 | outcome;
  }

  void add(const MissedBranches& other) {
    all += other.all, indirect += other.indirect;
    for (unsigned i = 0; i < slots; ++i)
      if (other.times_in(i) != 0) add(static_cast<Outcome>(other.slot[i]), other.times_in(i));
  }

  /// Adds the words of mispredicted branches (Tage::play()). Each target also counts as target_outcome_of().
  void add_all(const Outcome* wrong, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i, ++all) {
      add(wrong[i], 1);
      if ((wrong[i] & indirect_bit) == 0) continue;
      ++indirect;
      add(target_outcome_of(wrong[++i]), 1);
    }
  }

  /// Returns how often this outcome was mispredicted, as far as it has a slot.
  std::uint64_t of(Outcome outcome) const {
    const unsigned first = first_slot(outcome);
    std::uint64_t sum = 0;
    for (const unsigned i : {first, first ^ 1})
      if (static_cast<Outcome>(slot[i]) == outcome) sum += times_in(i);
    return sum;
  }

 private:
  // Half of the slots are for indirect branches: thousands of targets would take those of conditional ones.
  static unsigned first_slot(Outcome outcome) {
    return (outcome * 0x9E37'79B1U) >> 25 | ((outcome & indirect_bit) != 0 ? slots / 2 : 0);
  }
  std::uint64_t times_in(unsigned i) const { return slot[i] >> 32; }
};
static_assert(MissedBranches::slots == 1U << 8);

}  // namespace tally::models
