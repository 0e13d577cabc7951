#include "tally/engine/profile.hpp"

namespace tally::engine {

u64 executions(const Thread* t, u32 number) {
  u64 n = 0;
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == t->process) n += counters(o)[number];
  return n;
}

}  // namespace tally::engine
