/// Sums of events that generated code keeps for each thread (Thread::sums), from the thread's first instruction. Calls
/// and Python functions read those of the first events of channel::Marks, and the instruction rdpmc those that it
/// selects, because that takes less time than to read all counters, and they change often.
#pragma once
#include "tally/engine/records.hpp"
#include "tally/engine/translate/countdown_code.hpp"

namespace tally::engine::instrument {

/// Makes generated code sum the first events, at most `most`.
void sum_events(u32 most);
/// Makes generated code sum one more event, which rdpmc reads. Returns false if others use the sums. The caller
/// discards code that was translated before, and sets the sum of each thread.
bool sum_counter(const s8* weight);
/// Returns a number that identifies the events of sum_events(); it is not 0.
u64 sums_key();
/// Prepares a thread: its sums contain what its record does.
void exact_sums_attach(Thread* t);

}  // namespace tally::engine::instrument
