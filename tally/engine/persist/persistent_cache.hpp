/// The top of this layer: what the translator calls to use and to add stored translations.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::persist {

/// Maps the files that the command offers, by their inode numbers, 0 = none, and lets the translator use them. Called
/// once at the start. `first_instruction`: of the program.
void persistent_cache_init(u64 kept_inode, u64 added_inode, u64 first_instruction);

}  // namespace tally::engine::persist
