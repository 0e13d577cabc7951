// The input of a direction predictor for one conditional branch, in 32 bits.
#pragma once

#include <cstdint>

namespace tally::models {

/// The low 31 bits of the branch's address, and in bit 0 whether it was taken. Predictors use nothing else, because no
/// table has enough entries to need more address bits.
using Outcome = std::uint32_t;
constexpr Outcome outcome_of(std::uint64_t pc, bool taken) {
  return static_cast<std::uint32_t>(pc) << 1 | static_cast<std::uint32_t>(taken);
}
constexpr std::uint32_t address_of(Outcome outcome) { return outcome >> 1; }
constexpr bool was_taken(Outcome outcome) { return (outcome & 1) != 0; }

}  // namespace tally::models
