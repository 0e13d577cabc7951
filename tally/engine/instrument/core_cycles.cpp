#include "tally/engine/instrument/core_cycles.hpp"

#include "tally/engine/instrument/executed_flow.hpp"
#include "tally/engine/instrument/located_probes.hpp"
#include "tally/engine/instrument/running_cycles.hpp"

namespace tally::engine::instrument {
namespace {

u64* summed;  // executions of each segment by ended threads; null if cycles are not requested

Missed missed;  // of these threads

/// Copies the counters: they are read several times, and threads may increment them meanwhile.
bool copy_counters(const u64* from, Scratch<u64>& to) {
  const u32 n = segment_limit_so_far();
  if (!to.init(n)) return false;
  for (u32 i = channel::first_segment; i < n; i++) to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
  return true;
}

enum class Schedules { kept, kept_and_saved };

/// Calls `use(flow, total)` with the result for these executions, which must not change meanwhile. Does nothing without
/// memory, or if nothing ran.
template <class Use>
void with_total(const u64* executed, const Missed& mispredicted, Schedules schedules, Use&& use) {
  if (KeptSchedules kept; kept.open()) {
    ExecutedFlow flow(executed, mispredicted, &kept);
    if (!flow.build()) return;
    const models::CoreTotal total = flow.total();
    if (!kept.is_damaged()) {
      if (schedules == Schedules::kept_and_saved) kept.save();
      return use(flow, total);
    }
  }
  ExecutedFlow flow(executed, mispredicted, nullptr);
  if (flow.build()) use(flow, flow.total());
}

}  // namespace

void core_init() {
  if (settings().models.on & channel::model_core)
    summed = reinterpret_cast<u64*>(try_reserve(counters_bytes, PROT_READ | PROT_WRITE));
  running_cycles_init();
}

void core_collect(Thread* t, u32 n) {
  if (summed == nullptr) return;
  running_cycles_before_fold(t);
  const u64* const c = counters(t);
  for (u32 i = channel::first_segment; i < n; i++) summed[i] += c[i];
  missed.add(t);
  missed_of(model_counts(t)->missed) = {};
  Missed::collected(t) = Missed::missed_loads_of(t);
}

void core_finish(Thread* t) {
  // The executions of a vfork child are in the counters of the code that it shares with its parent.
  if (summed == nullptr || t->vfork_child != 0) return;
  Guard guard(cache_lock);
  core_finish_locked(t);
}

void core_finish_locked(Thread* t) {
  if (summed == nullptr) return;
  if (cache_is_damaged()) return core_forget();
  Scratch<u64> copied;  // threads and vfork children that end may add to them meanwhile
  if (!copy_counters(summed, copied)) return core_forget();
  with_total(&copied[0], missed, Schedules::kept_and_saved, [t](ExecutedFlow& flow, const models::CoreTotal& total) {
    channel::CoreValues& core = model_counts(t)->core;
    for (u32 i = 0; i < channel::core_cause_count; i++) core.cycles[i] += total.cycles.by[i];
    core.instructions += total.instructions;
    core.unknown += total.unknown;
    core.aliases += total.aliases;
    u64 page = ~u64{0};
    u32 mapping = 0;
    if (locates_values())
      flow.shares([&](u64 pc, const models::CoreTimes& cycles, u64 executions) {
        if (page != pc / page_bytes) mapping = translate::mapping_of(pc);
        page = pc / page_bytes;
        place_core_cycles(t, pc, mapping, cycles, executions);
      });
  });
  core_forget();
}

s64 core_costs(Thread* t, const u64* executed, SegmentCost* costs, ClassCosts* classes) {
  if (cache_is_damaged()) return 0;
  s64 average = 0;
  Missed mispredicted = missed;
  mispredicted.add(t);
  Scratch<u64> copied;
  if (!copy_counters(executed, copied)) return 0;
  with_total(&copied[0], mispredicted, Schedules::kept, [&](ExecutedFlow& flow, const models::CoreTotal& total) {
    average = ratio(total.cycles.sum(), total.instructions);
    if (classes != nullptr) flow.cost_classes(total, classes);
    flow.cost_segments(average, costs);
    if (kept_costs == nullptr && samples_cycles)
      kept_costs = reinterpret_cast<InstructionCost*>(try_reserve(kept_cost_limit * sizeof *kept_costs, read_write));
    if (kept_costs != nullptr) flow.keep_costs(average);
  });
  return average;
}

bool core_cost_from_instructions(u32 number, s64& cost) {
  if (kept_costs == nullptr || cache_is_damaged()) return false;
  const Trace& trace = tables.traces[trace_of(number)];
  bool is_known = number - trace.number < trace.segment_count;
  if (!is_known) return false;
  cost = segment_cost(trace, number - trace.number, [&](u64 pc) {
    is_known = is_known && kept_cost(pc).pc == pc;
    return kept_cost(pc).cost;
  });
  return is_known;
}

void core_forget() {
  running_cycles_forget();
  if (summed != nullptr) discard_pages(summed, counters_bytes);
  missed = {};
}

}  // namespace tally::engine::instrument
