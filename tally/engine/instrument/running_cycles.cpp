#include "tally/engine/instrument/running_cycles.hpp"

#include "tally/engine/instrument/core_cycles.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::instrument {
namespace {

constexpr u32 cycles_at = 0xf2000;  // from the GS base

/// Executions of a segment since the thread's counters were last read.
struct Executed {
  u32 segment, reserved;
  u64 times;
};
constexpr u32 executed_limit = channel::segment_limit;  // each segment is listed once between two reads

/// The cycle state of a thread.
struct ThreadCycles {
  s64 cycles;    // whole cycles
  s64 fraction;  // less than one cycle, with cost_bits fraction bits
  ClassCosts classes;
  u64 instructions;  // in the list
  u64 unseen;        // of those, the ones in segments of which the model has processed less than half of the executions
  Executed* list;
  u32 listed;
};
static_assert(cycles_at + sizeof(ThreadCycles) <= countdown_state_at);

ThreadCycles& own(const Thread* t) { return *reinterpret_cast<ThreadCycles*>(reinterpret_cast<u64>(t) + cycles_at); }

// Data of the process, by segment.
u64* all_executed;
SegmentCost* costs;
ClassCosts* classes;           // null if no event needs them; element 0 is that of an average instruction
u64 all_instructions;          // executed, as far as counters were read
u64 instructions_at_last_run;  // all_instructions when the model last ran
u64 all_unseen;                // of those executed since then, as ThreadCycles::unseen
u32 model_runs;                // how often it ran
s64 average;                   // cost of an average instruction

s64 instructions_of(u32 number) { return segment(number).counts[channel::instructions]; }

/// Adds the costs of the listed executions; segments without a cost have that of average instructions.
void add_listed_costs(ThreadCycles& c) {
  for (u32 i = 0; i < c.listed; i++) {
    const u32 number = c.list[i].segment;
    const s64 cost = costs[number].seen_now() != 0 ? costs[number].cost : average * instructions_of(number);
    const s64 times = static_cast<s64>(c.list[i].times);
    c.fraction += cost * times;
    if (classes == nullptr) continue;
    const bool is_known = costs[number].seen_now() != 0;
    for (u32 k = 0; k < channel::cycle_class_count; k++)
      c.classes.of[k] += times * (is_known ? classes[number].of[k] : classes[0].of[k] * instructions_of(number));
  }
  c.cycles += c.fraction >> cost_bits;
  c.fraction &= (s64{1} << cost_bits) - 1;
  c.listed = 0;
  c.instructions = c.unseen = 0;
}

void executed(Thread* t, u32 number, u64 times) {
  if (number < channel::first_segment) return;
  ThreadCycles& c = own(t);
  if (c.list == nullptr) return;  // of a thread that did not ask for cycles: read again if it does
  const u64 n = static_cast<u64>(instructions_of(number)) * times;
  const u64 all = __atomic_add_fetch(&all_executed[number], times, __ATOMIC_RELAXED);
  __atomic_add_fetch(&all_instructions, n, __ATOMIC_RELAXED);
  c.instructions += n;
  if (samples_cycles && costs[number].seen_now() == 0 && average != 0 && translate::cache_lock.try_take()) {
    if (s64 cost = 0; core_cost_from_instructions(number, cost)) {
      for (u32 k = 0; classes != nullptr && k < channel::cycle_class_count; k++)
        classes[number].of[k] = classes[0].of[k] * cost / average;
      costs[number].set(cost, all);
    }
    translate::cache_lock.release();
  }
  if (all > 2 * costs[number].seen_now()) {
    c.unseen += n;
    __atomic_add_fetch(&all_unseen, n, __ATOMIC_RELAXED);
  }
  if (c.listed < executed_limit) c.list[c.listed++] = {number, 0, times};
}

/// Whether the model should run before a thread's list gets its costs. That takes as long as core_finish(), so after
/// many runs it is done only for lists, or sums of lists, that are worth it.
bool should_run_model(const ThreadCycles& c) {
  constexpr u32 often = 16, worth = 10'000, few = 64;
  if (average == 0 || all_instructions > instructions_at_last_run + instructions_at_last_run / 4) return true;
  if (samples_cycles) return c.instructions >= few && all_unseen * 16 > all_instructions;
  return c.unseen * 50 > c.instructions && (model_runs < often || c.instructions > worth || all_unseen > worth);
}

/// `waits`: waits for cache_lock if it is taken.
void run_model(Thread* t, bool waits) {
  if (waits)
    translate::cache_lock.take();
  else if (!translate::cache_lock.try_take())
    return;
  if (const s64 found = core_costs(t, all_executed, costs, classes); found > 0) average = found;
  instructions_at_last_run = all_instructions;
  all_unseen = 0;
  model_runs++;
  translate::cache_lock.release();
}

/// False without memory, and if samples follow executions (window_vectors.cpp).
bool is_ready() { return on_executions == executed && all_executed != nullptr && costs != nullptr; }

}  // namespace

bool asks_cycles, samples_cycles;

void running_cycles_init() {
  if (!reads_cycles() || on_executions != nullptr) return;
  all_executed = reinterpret_cast<u64*>(try_reserve(counters_bytes, read_write));
  costs = reinterpret_cast<SegmentCost*>(try_reserve(u64{channel::segment_limit} * sizeof(SegmentCost), read_write));
  if (settings().pmu.has_classes != 0)
    classes = reinterpret_cast<ClassCosts*>(try_reserve(u64{channel::segment_limit} * sizeof *classes, read_write));
  if (all_executed != nullptr && costs != nullptr) on_executions = executed;
}

bool running_cycles_asked(Thread* t) {
  if ((settings().models.on & channel::model_core) == 0) return false;
  if (!reads_cycles()) {
    translate::cache_lock.take();
    asks_cycles = true;
    running_cycles_init();
    translate::cache_lock.release();
  }
  const bool is_new = own(t).list == nullptr;
  if (!is_ready() || !totals_asked(t) || !running_cycles_attach(t, true)) return false;
  if (is_new) {  // what was read before now has not been reported
    forget_totals(t);
    read_executions(t);
  }
  return true;
}

bool has_running_cycles(const Thread* t) { return is_ready() && own(t).list != nullptr; }

bool running_cycles_attach(Thread* t, bool goes_on) {
  if (!reads_cycles()) return true;
  ThreadCycles& c = own(t);
  if (c.list == nullptr)
    c.list = reinterpret_cast<Executed*>(try_reserve(executed_limit * sizeof(Executed), read_write));
  if (!goes_on) {
    c.cycles = c.fraction = 0;
    c.classes = {};
    c.listed = 0;
    c.instructions = c.unseen = 0;
  }
  return c.list != nullptr && is_ready();
}

void running_cycles_before_fold(Thread* t) {
  if (!reads_cycles() || !has_running_totals(t) || own(t).list == nullptr) return;
  read_executions(t);
  add_listed_costs(own(t));
}

void running_cycles_forget() {
  if (!reads_cycles() || all_executed == nullptr || costs == nullptr) return;
  discard_pages(all_executed, counters_bytes);
  discard_pages(costs, u64{channel::segment_limit} * sizeof(SegmentCost));
  if (classes != nullptr) discard_pages(classes, u64{channel::segment_limit} * sizeof *classes);
  all_instructions = instructions_at_last_run = 0;
}

s64 running_cycles(Thread* t, bool waits) {
  ThreadCycles& c = own(t);
  if (should_run_model(c)) run_model(t, waits);
  add_listed_costs(c);
  s64 cycles = c.cycles;
  const u64* const statistics = reinterpret_cast<const u64*>(&model_counts(t)->values);
  for (u32 i = 0; i < channel::mark_values - channel::mark_fields; i++)
    if (settings().marks.miss_cycles[i] != 0)
      cycles += settings().marks.miss_cycles[i] * static_cast<s64>(statistics[i]);
  return cycles;
}

s64 running_class(Thread* t, u32 k) {
  s64 cycles = own(t).classes.of[k] >> cost_bits;
  const u64* const statistics = reinterpret_cast<const u64*>(&model_counts(t)->values);
  for (u32 i = 0; i < channel::mark_values - channel::mark_fields; i++)
    if (settings().pmu.miss_class[i] == k) cycles += settings().marks.miss_cycles[i] * static_cast<s64>(statistics[i]);
  return cycles;
}

}  // namespace tally::engine::instrument
