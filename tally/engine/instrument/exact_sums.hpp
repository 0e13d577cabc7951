/// Sums of events that generated code keeps for each thread (Thread::sums): of the first events of channel::Marks,
/// from the thread's first instruction. Calls and Python functions read them, because that takes less time than to read
/// all counters, and they change often.
#pragma once
#include "tally/engine/records.hpp"
#include "tally/engine/translate/countdown_code.hpp"

namespace tally::engine::instrument {

/// Makes generated code sum the first events, at most `most`.
void sum_events(u32 most);
/// Whether sum_events() was called. Windows sum events, too, but not those that are known only at run time.
inline bool has_exact_sums() { return translate::summed_events.has_all; }
/// Prepares a thread: its sums are 0.
void exact_sums_attach(Thread* t);

}  // namespace tally::engine::instrument
