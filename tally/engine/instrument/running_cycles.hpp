/// Cycles of the core while a thread runs: read at marks and by the instruction rdpmc.
///
/// What segments cost is what the core model makes of everything that was executed so far. It is asked again where
/// much was executed of which it has seen less than half, or a quarter more in all than when it was asked last; what it
/// has not seen at all costs what instructions cost on the average. Such a read takes
/// as long as core_finish(); few do.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Some mark or counter wants them (channel::Marks::cycles_rows).
inline bool reads_cycles() { return settings().marks.cycles_rows != 0; }

/// Called once, when the settings are known.
void running_cycles_init();
/// A thread that has its record; `goes_on`: it had one before, and its cycles with it. False without memory.
bool running_cycles_attach(Thread* t, bool goes_on);
/// The counters of a thread are about to be zeroed.
void running_cycles_before_fold(Thread* t);
/// Segments have other numbers from here on. Wants cache_lock held.
void running_cycles_forget();

/// Of all that the thread has executed, with its misses. Its counters were just read (totals_of). `waits`: it may wait
/// for cache_lock; else it goes without the model where somebody has that.
s64 running_cycles(Thread* t, bool waits);

}  // namespace tally::engine::instrument
