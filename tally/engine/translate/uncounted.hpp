/// Corrects the counts of a thread in the middle of a segment, where executed and counted instructions differ.
#pragma once
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::translate {

/// Returns what must be added to the counts of a thread that leaves its trace for good at `s`, before the instruction
/// there. Excludes run-time counts of string instructions and similar.
channel::Totals uncounted_at(const CacheLocation& s);

/// Adds that. If counts are assigned to code, each instruction gets its own part.
void correct_at(Thread* t, const CacheLocation& s);
/// The same for an exit whose code is not executed: adds the counts of its segment.
void correct_exit(Thread* t, const CacheLocation& s);

}  // namespace tally::engine::translate
