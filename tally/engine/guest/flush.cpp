#include "tally/engine/guest/flush.hpp"

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {

bool flush(Thread* t) {
  if (!try_take_turn(t)) {
    step_aside(t);  // another thread flushes, or ends the process
    return true;
  }
  // After a thread has left the engine, threads cannot be stopped any more and nothing is translated.
  const bool all_out = !leaving() && hold_others(t);
  if (all_out) {
    Guard guard(cache_lock);
    counts_to_records();
    cache_reset();
  }
  give_turn(t);
  return all_out;
}

// Another thread may have flushed just before, and then there is more code than before.
bool flush_until_done(Thread* t) {
  const u32 before = cache_generation();
  while (cache_generation() == before)
    if (!flush(t)) return false;
  return true;
}

}  // namespace tally::engine::guest
