#include "tally/engine/instrument/running_cycles.hpp"

#include "tally/engine/instrument/core_cycles.hpp"
#include "tally/engine/instrument/models.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/translate/profile.hpp"

namespace tally::engine::instrument {
namespace {

constexpr u32 cycles_at = 0xf2100;  // from the GS base

/// Executions since the thread's counters were read before.
struct Executed {
  u32 segment, reserved;
  u64 times;
};
constexpr u32 executed_limit = channel::segment_limit;  // each is listed once between two reads

/// What a thread keeps for its cycles.
struct ThreadCycles {
  s64 cycles;        // whole ones
  s64 rest;          // with cost_bits behind the point
  u64 instructions;  // of the list
  u64 unseen;        // of them, those of which the model has seen less than half of the executions
  Executed* list;
  u32 listed;
};
static_assert(cycles_at + sizeof(ThreadCycles) <= 0xf2200 /* marks_at */);

ThreadCycles& own(const Thread* t) { return *reinterpret_cast<ThreadCycles*>(reinterpret_cast<u64>(t) + cycles_at); }

// Of the process, by segment.
u64* all_executed;
SegmentCost* costs;
u64 all_instructions;  // executed, as far as counters were read
u64 asked_at;          // all_instructions when the model was asked last
u32 asked;             // how often
s64 average;           // cost of an instruction

s64 instructions_of(u32 number) { return segment(number).counts[channel::instructions]; }

/// What is listed gets its cost, or the average's.
void settle(ThreadCycles& c) {
  for (u32 i = 0; i < c.listed; i++) {
    const u32 number = c.list[i].segment;
    const s64 cost = costs[number].seen_now() != 0 ? costs[number].cost : average * instructions_of(number);
    c.rest += cost * static_cast<s64>(c.list[i].times);
  }
  c.cycles += c.rest >> cost_bits;
  c.rest &= (s64{1} << cost_bits) - 1;
  c.listed = 0;
  c.instructions = c.unseen = 0;
}

void executed(Thread* t, u32 number, u64 times) {
  if (number < channel::first_segment) return;
  ThreadCycles& c = own(t);
  const u64 n = static_cast<u64>(instructions_of(number)) * times;
  const u64 all = __atomic_add_fetch(&all_executed[number], times, __ATOMIC_RELAXED);
  __atomic_add_fetch(&all_instructions, n, __ATOMIC_RELAXED);
  c.instructions += n;
  if (all > 2 * costs[number].seen_now()) c.unseen += n;
  if (c.listed < executed_limit) c.list[c.listed++] = {number, 0, times};
}

/// Whether the model is to be asked before a thread's list gets its costs. That takes as long as core_finish(): where
/// it was done often, only for pieces that are worth it.
bool is_worth_asking(const ThreadCycles& c) {
  constexpr u32 often = 64, worth = 10'000;
  if (average == 0 || all_instructions > asked_at + asked_at / 4) return true;
  return c.unseen * 50 > c.instructions && (asked < often || c.instructions > worth);
}

/// `waits`: for who holds cache_lock.
void ask(bool waits) {
  if (waits)
    translate::cache_lock.take();
  else if (!translate::cache_lock.try_take())
    return;
  if (const s64 found = core_costs(all_executed, costs); found > 0) average = found;
  asked_at = all_instructions;
  asked++;
  translate::cache_lock.release();
}

}  // namespace

bool asks_cycles;

void running_cycles_init() {
  if (!reads_cycles() || on_executions != nullptr) return;
  all_executed = reinterpret_cast<u64*>(try_reserve(counters_bytes, read_write));
  costs = reinterpret_cast<SegmentCost*>(try_reserve(u64{channel::segment_limit} * sizeof(SegmentCost), read_write));
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
  return totals_asked(t) && running_cycles_attach(t, true);
}

bool running_cycles_attach(Thread* t, bool goes_on) {
  if (!reads_cycles()) return true;
  ThreadCycles& c = own(t);
  if (c.list == nullptr)
    c.list = reinterpret_cast<Executed*>(try_reserve(executed_limit * sizeof(Executed), read_write));
  if (!goes_on) {
    c.cycles = c.rest = 0;
    c.listed = 0;
    c.instructions = c.unseen = 0;
  }
  return c.list != nullptr && on_executions != nullptr;
}

void running_cycles_before_fold(Thread* t) {
  if (!reads_cycles() || !has_running_totals(t) || own(t).list == nullptr) return;
  read_executions(t);
  settle(own(t));
}

void running_cycles_forget() {
  if (!reads_cycles() || all_executed == nullptr || costs == nullptr) return;
  throw_away(all_executed, counters_bytes);
  throw_away(costs, u64{channel::segment_limit} * sizeof(SegmentCost));
  all_instructions = asked_at = 0;
}

s64 running_cycles(Thread* t, bool waits) {
  ThreadCycles& c = own(t);
  if (is_worth_asking(c)) ask(waits);
  settle(c);
  s64 cycles = c.cycles;
  const u64* const statistics = reinterpret_cast<const u64*>(&model_counts(t)->values);
  for (u32 i = 0; i < channel::mark_values - channel::mark_fields; i++)
    if (settings().marks.miss_cycles[i] != 0)
      cycles += settings().marks.miss_cycles[i] * static_cast<s64>(statistics[i]);
  return cycles;
}

}  // namespace tally::engine::instrument
