#include "tally/engine/translate/profile.hpp"

namespace tally::engine::translate {
namespace {

constexpr u32 page_limit = counters_bytes / page_bytes;

}  // namespace

bool Executions::init(const Thread* t) {
  Thread* only = nullptr;
  u32 n = 0;
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == t->process) only = o, n++;
  if (n == 1) {
    counters_ = counters(only);
    return true;
  }
  const u32 numbers = segment_limit_so_far();
  if (!sums_.init(numbers)) return false;
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == t->process) add(o, numbers);
  counters_ = &sums_[0];
  return true;
}

void Executions::add(Thread* t, u32 numbers) {
  // Skip pages that were never written: reading one would allocate it.
  static u8 is_present[page_limit];
  const u64 bytes = page_up(u64{numbers} * sizeof(u64));
  const u64* const counted = counters(t);
  const bool known = kernel(SYS_mincore, reinterpret_cast<u64>(counted), bytes, reinterpret_cast<u64>(is_present)) == 0;
  for (u32 page = 0; page < bytes / page_bytes; page++) {
    if (known && is_present[page] == 0) continue;
    const u32 first = page * counters_per_page, end = first + counters_per_page;
    for (u32 i = first; i < end && i < numbers; i++)
      if (counted[i] != 0) sums_[i] += counted[i];
  }
}

}  // namespace tally::engine::translate
