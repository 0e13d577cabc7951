/// Periodically checks the counters for frequently executed traces, and reoptimizes these.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

/// Reoptimizes frequently executed traces, for this process and, as templates, for the next run. Called at the end of a
/// process, and before it executes another program. Takes cache_lock, and some microseconds for each trace.
void review_at_end(Thread* t);

/// Does the same from time to time. Called after system calls.
void review_at_times(Thread* t);

}  // namespace tally::engine::translate
