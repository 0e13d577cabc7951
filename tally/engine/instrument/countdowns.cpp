#include "tally/engine/instrument/countdowns.hpp"

#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/uncounted.hpp"

namespace tally::engine::instrument {
namespace {

void (*on_full)(Thread* t, u32 event);
u64 key;  // of the countdowns and the sums next to them; 0: not computed yet

u32 events() { return own_records.countdowns; }

/// Subtracts from the countdowns what string instructions and similar have counted: that is known only after they ran.
void subtract_late_counts(Thread* t) {
  CountdownState& s = countdown_state(t);
  for (u32 i = 1; i < channel::first_segment; i++) {
    const s64 more = static_cast<s64>(counters(t)[i] - s.late[i]);
    if (more == 0) continue;
    s.late[i] = counters(t)[i];
    channel::Totals totals;
    add_segment(totals, i, more);
    count_down(t, totals);
  }
}

/// Restores the countdowns to their true values, except for the slack of a thread that is not in single steps.
void settle_countdowns(Thread* t) {
  if (countdown_state(t).leaves_next != 0) {
    countdown_state(t).leaves_next = 0;
    for (u32 k = 0; k < events(); k++) t->countdown[k] += countdown_leaves;
  }
  subtract_late_counts(t);
}

void set_single_steps(Thread* t, bool in_steps) {
  if ((t->in_steps != 0) == in_steps) return;
  countdown_state(t).path_end = 0;
  t->in_steps = in_steps;
  for (u32 k = 0; k < events(); k++) t->countdown[k] += in_steps ? slack_of(k) : -slack_of(k);
}

void note(Thread* t, u64 pc) {
  CountdownState& s = countdown_state(t);
  if (own_records.notes_path && s.path != nullptr && t->in_steps != 0) s.path[s.path_end++ % path_limit] = pc;
}

bool is_far_from_full(const Thread* t) {
  for (u32 k = 0; k < events(); k++)
    if (t->countdown[k] < slack_of(k)) return false;
  return true;
}

}  // namespace

void count_down_by(const channel::WindowTrigger* by, u32 n, void (*full)(Thread* t, u32 event)) {
  own_records.counts_down = true;
  own_records.countdowns = n;
  for (u32 k = 0; k < n; k++) own_records.countdown[k] = by[k];
  on_full = full;
  key = 0;
}

u64 countdowns_key() {
  if (!counts_down() && !summed_events.are_counters) return 0;
  if (key != 0 && !summed_events.are_counters) return key;  // counters may be added
  constexpr u32 bytes = sizeof(channel::WindowTrigger::weight);
  const u64 paths = settings().windows.paths | u64{settings().windows.reads} << 8;
  u64 words[(channel::window_trigger_limit * bytes + channel::window_sum_limit * bytes) / 8 + 2] = {
      events() | paths << 16 | u64{summed_events.count} << 32, summed_events.reads_counters};
  u8* to = reinterpret_cast<u8*>(&words[2]);
  for (u32 k = 0; k < events(); k++) copy(to + k * bytes, own_records.countdown[k].weight, bytes);
  to += channel::window_trigger_limit * bytes;
  for (u32 i = 0; i < summed_events.count; i++) copy(to + i * bytes, summed_events.weight[i], bytes);
  return key = channel::check_of(words, sizeof words) | 1;
}

void countdowns_attach(Thread* t) {
  if (!counts_down()) return;
  CountdownState& state = countdown_state(t);
  u64* const path = state.path;
  state = {};
  state.path = path;
  if (own_records.notes_path && path == nullptr)
    state.path = reinterpret_cast<u64*>(try_reserve(path_limit * sizeof(u64), read_write));
  for (u32 k = 0; k < events(); k++) {
    t->countdown[k] = static_cast<s64>(channel::window_event_limit);
    state.span[k] = t->countdown[k] + 1;
  }
  t->in_steps = 1;
  t->past_check = 0;
}

void stop_counting_down(Thread* t) {
  set_single_steps(t, true);
  settle_countdowns(t);
}

u32 full_countdown(const Thread* t) {
  u32 k = 0;
  while (k < events() && t->countdown[k] >= 0) k++;
  return k;
}

void countdowns_before_fold(Thread* t) {
  if (counts_down()) subtract_late_counts(t);
}

void countdowns_folded(Thread* t) {
  for (u64& late : countdown_state(t).late) late = 0;
}

void countdowns_step(Thread* t) {
  if (!counts_down()) return;
  countdown_state(t).last = t->pc;
  note(t, t->pc);
}

void countdowns_interrupted(Thread* t, u64 pc) { note(t, pc | path_interrupted); }

void countdowns_settle(Thread* t) {
  if (!counts_down() || t->past_check != 0) return;
  settle_countdowns(t);
  if (t->in_steps == 0 && full_countdown(t) < events()) set_single_steps(t, true);
  if (t->in_steps == 0) return;
  if (const u32 k = full_countdown(t); k < events()) on_full(t, k);
  if (countdown_state(t).stays == 0 && is_far_from_full(t)) set_single_steps(t, false);
}

namespace {

/// Called before an instruction that may fill a countdown, or whose counts are known only after it.
void before_last(Thread* t, const Trace& trace) {
  t->pc = trace.pc;
  settle_countdowns(t);
  if (full_countdown(t) < events()) return;
  CountdownState& s = countdown_state(t);
  s.last = t->pc;
  note(t, t->pc);
  s.stays = 0;
  s.leaves_next = 1;
  for (u32 k = 0; k < events(); k++) t->countdown[k] -= countdown_leaves;
  t->past_check = 1;
}

void leave_at(Thread* t, u64 pc) {
  t->pc = pc;
  set_single_steps(t, true);
  countdown_state(t).stays = 1;
}

void leave_trace(Thread* t, const CountdownExit& r) {
  const CacheLocation& s = r.location;
  const u32 number = s.trace->number + s.place->segment;
  const u64 pc = s.trace->pc + static_cast<u64>(static_cast<s64>(s.place->pc));
  for (u32 k = 0; k < r.triggers; k++) t->countdown[k] += amount_of(k, segment(number));
  if (s.trace->segments[s.place->segment].first == Segment::is_exit)
    correct_exit(t, s);
  else
    correct_at(t, s);
  leave_at(t, pc);
}

}  // namespace

}  // namespace tally::engine::instrument

namespace tally::engine::translate {

extern "C" void window_reached(Thread* t) {
  const CountdownExit r = reached(t->resume, t->pc);
  if (r.steps != nullptr)
    instrument::before_last(t, *r.steps);
  else if (r.first != nullptr)
    instrument::leave_at(t, r.first->pc);
  else
    instrument::leave_trace(t, r);
  dispatch(t);
}

}  // namespace tally::engine::translate
