#include "tally/engine/guest/pmu_counters.hpp"

#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/guest/pmu_table.hpp"
#include "tally/engine/instrument/exact_sums.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

constexpr u32 row_bits = 6;
static_assert(channel::pmu_event_limit <= 1u << row_bits && u64{channel::pmu_thread_limit} << row_bits < 1u << 30);

/// The rows that generated code sums.
u32 summed_rows[channel::window_sum_limit];
/// Reads of each row by the engine. The code of the process is translated again after this many, which takes as long as
/// thousands of them.
u32 reads_of[channel::pmu_event_limit];
constexpr u32 many_reads = 256;

void sum_row(Thread* t, u32 row) {
  take_turn(t);
  if (!leaving() && hold_others(t)) {
    Guard cache(translate::cache_lock);
    const u32 k = translate::summed_events.count;
    if (instrument::sum_counter(settings().pmu.event[row].weight)) {
      summed_rows[k] = row;
      counts_to_records();
      for (Thread* o = threads(); o != nullptr; o = o->next) {
        instrument::exact_sums_attach(o);
        pmu_counters_attach(o);
      }
      translate::cache_reset();
    }
  }
  give_turn(t);
}

}  // namespace

u32 number_of_counter(const Thread* t, u32 row) { return t->index << row_bits | row; }

void pmu_counters_attach(Thread* t) {
  if (!translate::summed_events.are_counters) return;
  for (u32 k = 0; k < translate::summed_events.count; k++) t->counter[k] = -s64{number_of_counter(t, summed_rows[k])};
}

bool read_pmu_counter(Thread* t, u32 number, u64& value) {
  const u32 row = number & ((1u << row_bits) - 1), thread = number >> row_bits;
  if (!pmu_is_used() || row >= settings().pmu.event_count) return false;
  bool exists = false;
  {
    PmuGuard guard;
    if (thread_here(thread) == nullptr) return false;
    for_countings_of(thread, [&](u32 at, const PmuCounting& c) {
      s64 offset = 0;
      if (exists || pmu_event(c.event).row != row || !counter_offset(c.event, thread, offset)) return;
      PmuValues values(false);
      const s64 itself = thread == t->index ? settings().pmu.event[row].weight[channel::instructions] : 0;
      value = static_cast<u64>(counter_of(at, values) - itself) & ((u64{1} << counter_bits) - 1);
      exists = true;
    });
  }
  if (exists && thread == t->index && __atomic_add_fetch(&reads_of[row], 1, __ATOMIC_RELAXED) == many_reads)
    sum_row(t, row);
  return exists;
}

}  // namespace tally::engine::guest
