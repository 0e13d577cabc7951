#pragma once
#include "tests/engine/differential/sequence.hpp"

namespace tally::differential {

/// What a random instruction may do at its position.
struct Rules {
  AddressLayout layout;
  FixedRegisters fixed;
  bool uses_stack = true;  ///< push, pop and operands there
};

/// A random instruction of any encoding that the decoder supports, except branches, that user mode may try. It writes
/// none of the fixed registers and accesses the sandbox only, or fails. A gather is preceded by a load of its indices.
std::vector<Item> random_instruction(Random& random, const Rules& rules);

/// One number for all instructions that are encoded alike: of one opcode, with an operand of one kind, with the same
/// meaningless bits. 0 if the decoder does not support it.
uint64_t encoding_of(const std::vector<uint8_t>& bytes);

}  // namespace tally::differential
