/// Better traces for code that ran often. The counters say which way each branch went: traces are made again along that
/// way, through jumps and calls, and counted once for all of it instead of once a segment. Who leaves one earlier is
/// counted at that exit, which makes up for what did not run. Their templates take the places of those they came from:
/// the next run of the program begins with them.
#pragma once
#include "tally/engine/translate/profile.hpp"

namespace tally::engine::translate {

/// A trace in place of `old`, which was entered so often and made again `generation` times; null where there can be
/// none. `by_jump`: indirect jumps lead there. Wants cache_lock held.
const Trace* reoptimize(const Profile& profile, const Trace& old, u64 entered, u8 generation, bool by_jump);

}  // namespace tally::engine::translate
