/// Path hashes: generated code keeps a hash of the branches that a thread executes (channel::path_step).
///
/// The code that adds a branch precedes the branch itself, and the code for a branch that is not taken follows it. So
/// the hash does not depend on how traces are cut, on the order of the code cache, or on counters.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

inline bool hashes_paths() { return settings().windows.paths != 0; }

/// Whether the instruction belongs to the path.
bool is_on_path(Kind kind);

/// Emits code that adds the branch, before its copy. It preserves all registers and flags.
void emit_path_branch(Builder& b, const Instruction& branch);
/// Emits code that adds that a branch was not taken, by its path_step_not_taken().
void emit_path_not_taken(Builder& b, s32 step);
s32 path_step_not_taken(const Instruction& branch);

/// The thread leaves its trace before the instruction at `place`. If that is a branch, its step is added already:
/// removes it.
void remove_path_branch(Thread* t, const InstructionMapping& place);

}  // namespace tally::engine::translate
