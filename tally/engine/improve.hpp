/// Better templates for the next run, from what this one's counters say.
#pragma once
#include "tally/engine/store.hpp"

namespace tally::engine {

/// The process is about to end, and only `t` still runs. Makes traces that ran often anew along the way that was gone,
/// for the store. Takes cache_lock; some microseconds for each that it makes.
void improve(Thread* t);

}  // namespace tally::engine
