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

/// A return that was predicted wrongly, as one word, for play_placed(). Predictors do not get it.
constexpr Outcome wrong_return_of(std::uint64_t pc) { return outcome_of(pc, true) | indirect_bit; }
constexpr bool is_wrong_return(Outcome outcome) { return (outcome & wrong_return_of(0)) == wrong_return_of(0); }

/// Identifies a target of indirect branches in MissedBranches. Elsewhere these bits are a wrong_return_of().
constexpr Outcome target_outcome_of(std::uint64_t target) { return outcome_of(target, true) | indirect_bit; }

/// Identifies a branch by what its outcome contains of its address: a site with an address that no code can have.
constexpr std::uint64_t branch_site_bits = 0x7fff'0000'0000'0000;
constexpr std::uint64_t site_of_branch(Outcome outcome) { return branch_site_bits | address_of(outcome); }
constexpr bool is_site_of_branch(std::uint64_t site) { return site >> 48 == branch_site_bits >> 48; }

}  // namespace tally::models
