/// What a thread that stands in the middle of a segment has executed and what it has counted are two numbers.
#pragma once
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::translate {

/// What is to be added to the counts of a thread that leaves its trace for good at `s`, before the instruction there.
/// Nothing of what string instructions and their like count when they run.
channel::Totals uncounted_at(const CacheLocation& s);

/// Adds it. Where counts have a place in the program, each instruction gets its own part.
void correct_at(Thread* t, const CacheLocation& s);
/// The same for an exit, whose copy does not run: what its segment counts.
void correct_exit(Thread* t, const CacheLocation& s);

}  // namespace tally::engine::translate
