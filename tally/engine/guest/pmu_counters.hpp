/// Counters of events that the instruction rdpmc reads. A counter contains everything that a thread has counted of a
/// row of PresentedPmu; the page of an event has the difference to the event's count.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Width of the counters.
inline constexpr u16 counter_bits = 48;

/// The number by which rdpmc selects the counter of a row in a thread.
u32 number_of_counter(const Thread* t, u32 row);
/// Executes rdpmc, which has been counted, if generated code did not. Returns false if there is no such counter. After
/// some reads it makes generated code sum the row and read the sum: the caller discards what it found in the cache.
bool read_pmu_counter(Thread* t, u32 number, u64& value);
/// Prepares a thread that has its channel record.
void pmu_counters_attach(Thread* t);

}  // namespace tally::engine::guest
