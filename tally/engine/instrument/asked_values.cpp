#include "tally/engine/instrument/asked_values.hpp"

#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/running_cycles.hpp"
#include "tally/engine/instrument/running_totals.hpp"

namespace tally::engine::instrument {

channel::Totals asked_totals(Thread* t) {
  if (totals_asked(t)) {
    read_executions(t);
    return running_totals(t);
  }
  channel::Totals totals = channel::sum(counters(t), &segment(0), own_records.rows, segment_limit_so_far());
  totals.add(records().thread(t->index).base);
  return totals;
}

void prepare_values(Thread* t) {
  if (settings().models.on != 0) running_cycles_asked(t);
}

channel::CountedValues counted_values(Thread* t, bool waits) {
  channel::CountedValues values{asked_totals(t), {}, 0};
  if (settings().models.on == 0) return values;
  models_settle(t);
  values.models = model_counts(t)->values;
  if (!has_running_cycles(t)) return values;
  values.cycles = running_cycles(t, waits);
  return values;
}

}  // namespace tally::engine::instrument
