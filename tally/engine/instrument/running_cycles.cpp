#include "tally/engine/instrument/running_cycles.hpp"

#include "tally/engine/instrument/core_cycles.hpp"
#include "tally/engine/instrument/models.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/translate/profile.hpp"

namespace tally::engine::instrument {
namespace {

constexpr u32 cycles_at = 0xf2100;  // from the GS base

/// Executions whose cost is not known yet.
struct Uncosted {
  u32 segment, reserved;
  u64 times;
};
constexpr u32 uncosted_limit = 1u << 16;

/// What a thread keeps for its cycles.
struct ThreadCycles {
  s64 cycles;        // with cost_bits behind the point
  u64 instructions;  // executed since its counters were read before
  u64 unseen;        // of them, those whose cost is not known
  Uncosted* list;
  u32 listed;
};
static_assert(cycles_at + sizeof(ThreadCycles) <= 0xf2200 /* marks_at */);

ThreadCycles& own(const Thread* t) { return *reinterpret_cast<ThreadCycles*>(reinterpret_cast<u64>(t) + cycles_at); }

// Of the process, by segment.
u64* all_executed;
SegmentCost* costs;
u64 all_instructions;  // executed, as far as counters were read
u64 asked_at;          // all_instructions when the model was asked last
s64 average;           // cost of an instruction

s64 instructions_of(u32 number) { return segment(number).counts[channel::instructions]; }

/// What is listed gets its cost, or the average's.
void settle(ThreadCycles& c) {
  for (u32 i = 0; i < c.listed; i++) {
    const u32 number = c.list[i].segment;
    const s64 cost = costs[number].known != 0 ? costs[number].cost : average * instructions_of(number);
    c.cycles += cost * static_cast<s64>(c.list[i].times);
  }
  c.listed = 0;
  c.instructions = c.unseen = 0;
}

void executed(Thread* t, u32 number, u64 times) {
  if (number < channel::first_segment) return;
  ThreadCycles& c = own(t);
  const u64 n = static_cast<u64>(instructions_of(number)) * times;
  __atomic_add_fetch(&all_executed[number], times, __ATOMIC_RELAXED);
  __atomic_add_fetch(&all_instructions, n, __ATOMIC_RELAXED);
  c.instructions += n;
  if (costs[number].known != 0) {
    c.cycles += costs[number].cost * static_cast<s64>(times);
    return;
  }
  if (c.listed == uncosted_limit) settle(c);
  c.unseen += n;
  c.list[c.listed++] = {number, 0, times};
}

void ask() {
  Guard guard(translate::cache_lock);
  if (const s64 found = core_costs(all_executed, costs); found > 0) average = found;
  asked_at = all_instructions;
}

}  // namespace

void running_cycles_init() {
  if (!reads_cycles()) return;
  all_executed = reinterpret_cast<u64*>(try_reserve(counters_bytes, read_write));
  costs = reinterpret_cast<SegmentCost*>(try_reserve(u64{channel::segment_limit} * sizeof(SegmentCost), read_write));
  if (all_executed != nullptr && costs != nullptr) on_executions = executed;
}

bool running_cycles_attach(Thread* t, bool goes_on) {
  if (!reads_cycles()) return true;
  ThreadCycles& c = own(t);
  if (c.list == nullptr)
    c.list = reinterpret_cast<Uncosted*>(try_reserve(uncosted_limit * sizeof(Uncosted), read_write));
  if (!goes_on) c.cycles = 0;
  c.listed = 0;
  c.instructions = c.unseen = 0;
  return c.list != nullptr && on_executions != nullptr;
}

void running_cycles_before_fold(Thread* t) {
  if (!reads_cycles()) return;
  (void)totals_of(t);
  settle(own(t));
}

void running_cycles_forget() {
  if (!reads_cycles() || all_executed == nullptr || costs == nullptr) return;
  throw_away(all_executed, counters_bytes);
  throw_away(costs, u64{channel::segment_limit} * sizeof(SegmentCost));
  all_instructions = asked_at = 0;
}

s64 running_cycles(Thread* t, bool asks) {
  ThreadCycles& c = own(t);
  const bool unseen = c.unseen * 50 > c.instructions || average == 0;
  if (asks && (unseen || all_instructions > asked_at + asked_at / 4)) ask();
  settle(c);
  s64 cycles = c.cycles >> cost_bits;
  const u64* const figures = reinterpret_cast<const u64*>(&model_counts(t)->values);
  for (u32 i = 0; i < channel::mark_figures - channel::mark_fields; i++)
    if (settings().marks.miss_cycles[i] != 0) cycles += settings().marks.miss_cycles[i] * static_cast<s64>(figures[i]);
  return cycles;
}

}  // namespace tally::engine::instrument
