#include "tally/engine/instrument/exact_sums.hpp"

#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/instrument/window_probes.hpp"

namespace tally::engine::instrument {
namespace {

using translate::summed_events;

/// Adds a correction of what generated code has counted (see records.hpp) to the sums.
void add_correction(Thread* t, u64, const channel::Totals& delta) {
  for (u32 e = 0; e < summed_events.count; e++)
    for (u32 f = 0; f < counted_fields(); f++) t->sums[e] += summed_events.weight[e][f] * delta.field[f];
}

}  // namespace

void sum_events(u32 most) {
  const channel::Marks& marks = settings().marks;
  if (most > channel::window_sum_limit) most = channel::window_sum_limit;
  summed_events.count = marks.events < most ? marks.events : most;
  summed_events.has_all = true;
  for (u32 e = 0; e < summed_events.count; e++) summed_events.weight[e] = marks.weight[e];
  on_correction = add_correction;
}

bool sum_counter(const s8* weight) {
  if (windows_on() || (on_correction != nullptr && !summed_events.are_counters) ||
      summed_events.count == channel::window_sum_limit)
    return false;
  summed_events.weight[summed_events.count++] = weight;
  summed_events.has_all = summed_events.are_counters = true;
  on_correction = add_correction;
  return true;
}

u64 sums_key() {
  static u64 key;
  if (key != 0) return key;
  constexpr u32 bytes = channel::field_count;
  u64 words[(channel::window_sum_limit * bytes + 7) / 8 + 1] = {summed_events.count};
  for (u32 e = 0; e < summed_events.count; e++)
    copy(reinterpret_cast<u8*>(&words[1]) + e * bytes, settings().marks.weight[e], bytes);
  return key = channel::check_of(words, sizeof words) | 1;
}

void exact_sums_attach(Thread* t) {
  if (!summed_events.has_all) return;
  for (s64& sum : t->sums) sum = 0;
  if (summed_events.are_counters) add_correction(t, 0, records().thread(t->index).base);
}

}  // namespace tally::engine::instrument
