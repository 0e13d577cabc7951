/// Code that is compared when it is entered: of pages that the program may write without the engine hearing of it
/// (watching.hpp). Such a trace begins with a comparison of all the code that it was made from, without a change of the
/// flags, and ends after the first instruction that stores, since that may have written what follows.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Bytes at its beginning that save what it borrows, rcx and r11.
inline constexpr u32 comparison_saves = 18;
/// The comparison of a trace that consists of these `n` instructions, which follow one another.
void emit_comparison(Builder& b, const Instruction* in, u32 n);

extern "C" {
/// From a trace whose code is another one by now: rcx = its address in the program; rcx and r11 are saved.
void enter_unlike();
/// Called by it.
void found_unlike(Thread* t);
}

}  // namespace tally::engine::translate
