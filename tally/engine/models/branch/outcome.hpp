// What a predictor of directions is told of a conditional branch, in 32 bits.
#pragma once

#include <cstdint>

namespace tally::models {

/// The low 31 bits of the branch's address, and in bit 0 whether it was taken. Predictors go by nothing else: no table
/// has so many entries that more bits would matter.
using Outcome = std::uint32_t;
constexpr Outcome outcome_of(std::uint64_t pc, bool taken) {
  return static_cast<std::uint32_t>(pc) << 1 | static_cast<std::uint32_t>(taken);
}
constexpr std::uint32_t address_of(Outcome outcome) { return outcome >> 1; }
constexpr bool was_taken(Outcome outcome) { return (outcome & 1) != 0; }

}  // namespace tally::models
