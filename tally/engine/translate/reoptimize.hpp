/// Reoptimizes frequently executed code. The counters show which way each branch usually goes. A trace is translated
/// again along that path, through jumps and calls, with one counter for the whole path instead of one per segment. An
/// early exit has a counter that corrects for the code that was not executed. Templates of the new traces replace the
/// old templates, so the next run of the program starts with them.
#pragma once
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::translate {

/// Creates a trace that replaces `old`, which was entered `entered` times and reoptimized `generation` times. Returns
/// null if that fails. `by_jump`: indirect jumps lead there. The caller must hold cache_lock.
const Trace* reoptimize(const Profile& profile, const Trace& old, u64 entered, u8 generation, bool by_jump);

}  // namespace tally::engine::translate
