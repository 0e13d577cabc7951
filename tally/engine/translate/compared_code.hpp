/// Compared code: the engine cannot detect every write to it (watching.hpp), so its traces check it. Each trace starts
/// by comparing the program's code with the copy that was translated. The comparison preserves the flags. The trace
/// ends after the first instruction that stores, because the store may change the code that follows.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Size in bytes of the code at the start of the comparison that saves rcx and r11.
inline constexpr u32 comparison_saves = 18;
/// Emits the comparison for a trace of the `n` consecutive instructions at `in`.
void emit_comparison(Builder& b, const Instruction* in, u32 n);

extern "C" {
/// A trace jumps here if its program code has changed. On entry, rcx is the program address of the trace; the
/// program's rcx and r11 are already saved.
void enter_unlike();
/// Invalidates the trace of the changed code, and continues at the thread's pc. Called by enter_unlike().
void found_unlike(Thread* t);
}

}  // namespace tally::engine::translate
