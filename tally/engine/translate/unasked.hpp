/// Instructions that the processor that the program sees lacks. A program that executes one did not ask what the
/// processor has. They run on the real processor, and each one is counted (channel::UnaskedSite).
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Emits code that counts one execution of the instruction. Preserves the flags and all registers.
void emit_unasked_count(Builder& b, const Instruction& in);

}  // namespace tally::engine::translate
