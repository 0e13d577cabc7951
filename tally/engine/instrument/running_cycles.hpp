/// Cycles of the core while a thread runs: read at marks, by the instruction rdpmc, and by programs that ask for what
/// they have counted.
///
/// What segments cost is what the core model makes of everything that was executed so far. It is asked again where
/// much was executed of which it has seen less than half, or a quarter more in all than when it was asked last; what it
/// has not seen at all costs what instructions cost on the average. Such a read takes
/// as long as core_finish(); few do.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// The process has asked for them by itself.
extern bool asks_cycles;

/// Some mark or counter wants them (channel::Marks::cycles_rows), or the program.
inline bool reads_cycles() { return settings().marks.cycles_rows != 0 || asks_cycles; }

/// Called once, when the settings are known.
void running_cycles_init();
/// A thread that has its record; `goes_on`: it had one before, and its cycles with it. False without memory.
bool running_cycles_attach(Thread* t, bool goes_on);
/// A thread asks for them by itself: from now on its process keeps what they are made of. False without memory, or
/// where the core model is not asked for.
bool running_cycles_asked(Thread* t);
/// The counters of a thread are about to be zeroed.
void running_cycles_before_fold(Thread* t);
/// Segments have other numbers from here on. Wants cache_lock held.
void running_cycles_forget();

/// Of all that the thread has executed, with its misses. Its counters were just read (totals_of). `waits`: it may wait
/// for cache_lock; else it goes without the model where somebody has that.
s64 running_cycles(Thread* t, bool waits);

}  // namespace tally::engine::instrument
