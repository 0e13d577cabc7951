#include "tally/engine/translate/execution_counts.hpp"

#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::translate {
namespace {

u64* of_ended;  // sums of the counters of ended threads; null: none has ended

/// Adds counters to sums.
void add_counters(u64* sums, const u64* counted, u32 numbers) {
  // Skip pages that were never written: reading one would allocate it.
  LARGE static u8 is_present[counters_bytes / page_bytes];
  const u64 bytes = page_up(u64{numbers} * sizeof(u64));
  const bool known = kernel(SYS_mincore, reinterpret_cast<u64>(counted), bytes, reinterpret_cast<u64>(is_present)) == 0;
  for (u32 page = 0; page < bytes / page_bytes; page++) {
    if (known && is_present[page] == 0) continue;
    const u32 first = page * counters_per_page, end = first + counters_per_page;
    for (u32 i = first; i < end && i < numbers; i++)
      if (counted[i] != 0) sums[i] += counted[i];
  }
}

}  // namespace

void keep_executions(Thread* t) {
  if (!persistent_cache->is_written()) return;
  if (of_ended == nullptr) of_ended = reinterpret_cast<u64*>(try_reserve(counters_bytes, PROT_READ | PROT_WRITE));
  if (of_ended != nullptr) add_counters(of_ended, counters(t), segment_limit_so_far());
}

void forget_executions() {
  if (of_ended != nullptr) discard_pages(of_ended, counters_bytes);
}

bool Executions::init(const Thread* t) {
  Thread* only = nullptr;
  u32 n = 0;
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == t->process) only = o, n++;
  if (n == 1 && of_ended == nullptr) {
    counters_ = counters(only);
    return true;
  }
  const u32 numbers = segment_limit_so_far();
  if (!sums_.init(numbers)) return false;
  if (of_ended != nullptr) add_counters(&sums_[0], of_ended, numbers);
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == t->process) add_counters(&sums_[0], counters(o), numbers);
  counters_ = &sums_[0];
  return true;
}

}  // namespace tally::engine::translate
