// The input of branch predictors: one word of 32 bits for a conditional branch, two for an indirect one.
#pragma once

#include <cstdint>

namespace tally::models {

/// A conditional branch: in bit 0 whether it was taken, above it the low 30 bits of its address. An indirect jump or
/// call is two words: the same with `indirect_bit`, and the low 32 bits of its target. Predictors use nothing else,
/// because no table has enough entries to need more address bits.
using Outcome = std::uint32_t;
constexpr Outcome indirect_bit = 1u << 31;
constexpr Outcome outcome_of(std::uint64_t pc, bool taken) {
  return (static_cast<std::uint32_t>(pc) << 1 & ~indirect_bit) | static_cast<std::uint32_t>(taken);
}
/// The first word of an indirect branch.
constexpr Outcome indirect_outcome_of(std::uint64_t pc) { return outcome_of(pc, false) | indirect_bit; }
constexpr std::uint32_t address_of(Outcome outcome) { return (outcome & ~indirect_bit) >> 1; }

}  // namespace tally::models
