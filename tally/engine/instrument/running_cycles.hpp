/// Core cycles of a running thread: read at marks, by the instruction rdpmc, and by programs that ask for their counts.
///
/// The core model computes the cost of segments from everything that was executed so far. It runs again if much was
/// executed in segments of which it has processed less than half, or if a quarter more was executed in all than when it
/// last ran. Segments that it has not processed cost as much as average instructions. A read that runs the model takes
/// as long as core_finish(); few do.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// The process has asked for cycles by itself; it samples them, so that it asks after each few instructions.
extern bool asks_cycles, samples_cycles;

/// Whether a mark or counter (channel::Marks::cycles_rows), or the program, asks for cycles, or may open a counter of
/// them.
inline bool reads_cycles() {
  return settings().marks.cycles_rows != 0 || asks_cycles ||
         (settings().pmu.any() && (settings().models.on & channel::model_core) != 0);
}

/// Called once, when the settings are known.
void running_cycles_init();
/// Prepares a thread that has its channel record; `goes_on`: it keeps earlier cycles. False without memory.
bool running_cycles_attach(Thread* t, bool goes_on);
/// Prepares a thread that asks for cycles by itself: from now on its process keeps the data for them. False without
/// memory, or if the core model is not requested.
bool running_cycles_asked(Thread* t);
/// Whether running_cycles() can be called for the thread.
bool has_running_cycles(const Thread* t);
/// Called before the counters of a thread are zeroed.
void running_cycles_before_fold(Thread* t);
/// Discards all costs, because segments get other numbers. The caller holds cache_lock.
void running_cycles_forget();

/// Returns the cycles of everything that the thread has executed, including misses. Its counters were just read
/// (totals_of). `waits`: it may wait for cache_lock; otherwise it does not run the core model if the lock is taken.
s64 running_cycles(Thread* t, bool waits);
/// After running_cycles(): returns those of a channel::CycleClass, with PresentedPmu::has_classes.
s64 running_class(Thread* t, u32 k);

}  // namespace tally::engine::instrument
