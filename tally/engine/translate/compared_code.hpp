/// Code that is compared when it is entered, because the program may write it without notice to the engine
/// (watching.hpp). Its traces start with a comparison of all code that they were made from, which preserves the flags.
/// They end after the first instruction that stores, because that may have written the following code.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Bytes at the start of the comparison that save the registers it borrows, rcx and r11.
inline constexpr u32 comparison_saves = 18;
/// Emits the comparison of a trace that consists of these `n` consecutive instructions.
void emit_comparison(Builder& b, const Instruction* in, u32 n);

extern "C" {
/// Entered from a trace whose program code has changed: rcx = its address in the program; rcx and r11 are saved.
void enter_unlike();
/// Called by enter_unlike().
void found_unlike(Thread* t);
}

}  // namespace tally::engine::translate
