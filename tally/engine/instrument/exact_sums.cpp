#include "tally/engine/instrument/exact_sums.hpp"

namespace tally::engine::instrument {
namespace {

using translate::summed_events;

/// Adds a correction of what generated code has counted (see records.hpp) to the sums.
void add_correction(Thread* t, u64, const channel::Totals& delta) {
  for (u32 e = 0; e < summed_events.count; e++)
    for (u32 f = 0; f < counted_fields(); f++) t->sums[e] += settings().marks.weight[e][f] * delta.field[f];
}

}  // namespace

void sum_events(u32 most) {
  const channel::Marks& marks = settings().marks;
  if (most > channel::window_sum_limit) most = channel::window_sum_limit;
  summed_events.count = marks.events < most ? marks.events : most;
  summed_events.has_all = true;
  for (u32 e = 0; e < summed_events.count; e++) summed_events.row[e] = static_cast<u8>(e);
  on_correction = add_correction;
}

void exact_sums_attach(Thread* t) {
  if (!has_exact_sums()) return;
  for (s64& sum : t->sums) sum = 0;
}

}  // namespace tally::engine::instrument
