#pragma once
#include "tests/engine/differential/sequence.hpp"

namespace tally::differential {

/// What a random instruction may do, where it stands.
struct Rules {
  Place place;
  Fixed fixed;
  bool uses_stack = true;  ///< push, pop and operands there
};

/// A random instruction of any encoding that the decoder knows, that is no branch and that user mode may try. It writes
/// none of the fixed registers and accesses the sandbox only, or fails. A gather comes with what loads its indices.
std::vector<Item> random_instruction(Random& random, const Rules& rules);

/// One number for all instructions that are encoded alike: of one opcode, with an operand of one kind, with the same
/// bits that mean nothing. 0 for what the decoder does not know.
uint64_t encoding_of(const std::vector<uint8_t>& bytes);

}  // namespace tally::differential
