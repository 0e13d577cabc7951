/// Everything that a thread has counted so far, for threads whose code does not mark the counters that it increments.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Returns the totals of a thread, which is stopped, or is the caller. Compares all counters with those of the last
/// call, and adds what changed.
channel::Totals asked_totals(Thread* t);

/// Prepares a thread for counted_values(). Takes cache_lock.
void prepare_values(Thread* t);
/// Returns the totals, with the models up to date. `waits`: as for running_cycles(). The cost is that of
/// channel::AskedValues.
channel::CountedValues counted_values(Thread* t, bool waits);

}  // namespace tally::engine::instrument
