#include "tally/engine/guest/failing.hpp"

#include "tally/channel/asking.hpp"
#include "tally/engine/context.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::guest {
namespace {

/// Takes it, and changes what only its holder may see changed where that is a few words.
bool hold(Thread* t, u64 held) {
  switch (held) {
    case channel::held_nothing: return true;
    case channel::held_mappings: lock_mappings(t); return true;
    case channel::held_cache: cache_lock.take(); return true;
    case channel::held_code: lock_code(); return true;
    case channel::held_threads:
      threads_lock.take();
      own_records.threads += 5;
      return true;
    case channel::held_reserve: reserve_lock.take(); return true;
    case channel::held_models: instrument::llc_lock.take(); return true;
    case channel::held_floor: take_floor(t); return true;
    case channel::held_others: take_floor(t); return hold_others(t);
    case channel::held_all:
      lock_mappings(t);
      take_floor(t);
      hold_others(t);
      lock_tables();
      return true;
    default: return false;
  }
}

}  // namespace

s64 be_killed(Thread* t, u64 held) {
  if (held >= channel::held_limit) return -EINVAL;
  hold(t, held);
  kernel(SYS_kill, static_cast<u64>(kernel(SYS_getpid)), sigkill);
  for (;;) kernel(SYS_pause);
}

}  // namespace tally::engine::guest
