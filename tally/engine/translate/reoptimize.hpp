/// Better code for what ran often, from what the counters say.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

/// Traces that ran often are made anew along the way that was gone, for this process and, as templates, for the next
/// run. Takes cache_lock; some microseconds for each.
void improve(Thread* t);

/// The same, now and then, after a system call.
void improve_at_times(Thread* t);

}  // namespace tally::engine::translate
