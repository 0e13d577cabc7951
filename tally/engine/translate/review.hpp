/// Now and then the counters are looked through for traces that ran often: those are reoptimized.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

/// Traces that ran often are reoptimized, for this process and, as templates, for the next run. At the end of a
/// process, and before it executes another program. Takes cache_lock; some microseconds for each.
void review_at_end(Thread* t);

/// The same, now and then, after a system call.
void review_at_times(Thread* t);

}  // namespace tally::engine::translate
