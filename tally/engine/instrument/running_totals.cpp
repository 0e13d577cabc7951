#include "tally/engine/instrument/running_totals.hpp"

#include "tally/engine/channel/run_time_counters.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/running_cycles.hpp"
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::instrument {
namespace {

RunningTotals& own(const Thread* t) { return *reinterpret_cast<RunningTotals*>(reinterpret_cast<u64>(t) + running_at); }
u8* touched(Thread* t) { return reinterpret_cast<u8*>(reinterpret_cast<u64>(t) + touched_at); }

void read_chunk(Thread* t, u32 chunk) {
  RunningTotals& m = own(t);
  const u64* const now = counters(t);
  const u32 end = (chunk + 1) * counters_per_touch;
  for (u32 i = chunk * counters_per_touch; i < end; i++) {
    const s64 more = static_cast<s64>(now[i] - m.seen[i]);
    if (more == 0) continue;
    add_segment(m.running, i, more);
    if (on_executions != nullptr) on_executions(t, i, static_cast<u64>(more));
    m.seen[i] = now[i];
  }
}

// The sum of `counters_per_touch` counters. Counters of segments only grow: if the sum is the same, all of them are.
u64 sum_of(const u64* counters) {
  u64 a = 0, b = 0, c = 0, d = 0;
#pragma GCC unroll 8
  for (u32 i = 0; i < counters_per_touch; i += 4) {
    a += counters[i];
    b += counters[i + 1];
    c += counters[i + 2];
    d += counters[i + 3];
  }
  asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));  // otherwise the compiler makes one chain of additions
  return a + b + c + d;
}

constexpr u64 sums_bytes = counters_bytes / counters_per_touch;

}  // namespace

void (*on_executions)(Thread* t, u32 segment, u64 times);

bool totals_attach(Thread* t) {
  RunningTotals& m = own(t);
  if (m.seen == nullptr) m.seen = reinterpret_cast<u64*>(try_reserve(counters_bytes + sums_bytes, read_write));
  if (m.seen == nullptr) return false;
  m.sums = m.seen + channel::segment_limit;
  forget_totals(t);
  return true;
}

bool has_running_totals(const Thread* t) { return own(t).seen != nullptr; }

bool totals_asked(Thread* t) { return has_running_totals(t) || totals_attach(t); }

void read_executions(Thread* t) {
  u64* const sums = own(t).sums;
  const u64* const now = counters(t);
  const u32 chunks = (segment_limit_so_far() + counters_per_touch - 1) / counters_per_touch;
  u32 i = 0;
  // Counters of what is known only at run time can also become smaller.
  for (; i * counters_per_touch < channel::first_segment_of_code(settings()); i++) read_chunk(t, i);
  for (; i < chunks; i++) {
    const u64 sum = sum_of(now + i * counters_per_touch);
    if (sum == sums[i]) continue;
    sums[i] = sum;
    read_chunk(t, i);
  }
}

channel::Totals running_totals(const Thread* t) {
  channel::Totals all = own(t).running;
  all.add(records().thread(t->index).base);
  return all;
}

void forget_totals(Thread* t) {
  RunningTotals& m = own(t);
  m.running = {};
  discard_pages(m.seen, counters_bytes + sums_bytes);
  discard_pages(touched(t), channel::segment_limit / counters_per_touch);
}

void emit_touched(Builder& b, u32 number) {
  static const u8 move_byte[] = {0x65, 0xc6, 0x04, 0x25};  // mov byte gs:[…], 1
  b.e.bytes(move_byte, sizeof move_byte);
  recorder.fix(translate::Fix::touched, b.offset(), static_cast<s64>(number - b.trace.number));
  b.e.dword(touched_at + number / counters_per_touch);
  b.e.byte(1);
}

channel::Totals totals_of(Thread* t) {
  // The first counters are for events known only at run time: no code marks them.
  for (u32 i = 0; i * counters_per_touch < channel::first_segment_of_code(settings()); i++) read_chunk(t, i);
  const u32 chunks = (segment_limit_so_far() + counters_per_touch - 1) / counters_per_touch;
  u64* const words = reinterpret_cast<u64*>(touched(t));
  for (u32 w = 0; w < (chunks + 7) / 8; w++) {
    if (words[w] == 0) continue;
    for (u32 k = 0; k < 8; k++)
      if (touched(t)[w * 8 + k] != 0) read_chunk(t, w * 8 + k);
    words[w] = 0;
  }
  return running_totals(t);
}

void read_events(Thread* t, EventSums& sums, bool waits) {
  const channel::Marks& marks = settings().marks;
  const channel::Totals all = totals_of(t);
  if (marks.modelled != 0) models_settle(t);
  const s64 cycles = has_running_cycles(t) ? running_cycles(t, waits) : 0;
  const u64* const models = reinterpret_cast<const u64*>(&model_counts(t)->values);
  for (u32 e = 0; e < marks.events; e++) {
    s64 sum = 0;
    for (u32 i = 0; i < counted_fields(); i++) sum += marks.weight[e][i] * all.field[i];
    for (u32 i = channel::mark_fields; marks.modelled != 0 && i < channel::mark_values; i++)
      if (marks.weight[e][i] != 0) sum += marks.weight[e][i] * static_cast<s64>(models[i - channel::mark_fields]);
    sums.of[e] = marks.cycles_rows >> e & 1 ? cycles : sum;
  }
}

}  // namespace tally::engine::instrument
