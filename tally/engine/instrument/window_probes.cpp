#include "tally/engine/instrument/window_probes.hpp"

#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/window_records.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/review.hpp"
#include "tally/engine/translate/source_probes.hpp"
#include "tally/engine/translate/uncounted.hpp"

namespace tally::engine::instrument {
namespace {

ThreadWindows& own(const Thread* t) { return windows_of(t); }
const channel::Windows& requested() { return asked_windows(); }

void begin_window(Thread* t) {
  for (u32 k = 0; k < requested().triggers; k++) t->countdown[k] = window_length(t, k) - 1;
}

/// Subtracts from the countdowns what string instructions and similar have counted: that is known only after they ran.
void subtract_late_counts(Thread* t) {
  ThreadWindows& w = own(t);
  for (u32 i = 1; i < channel::first_segment; i++) {
    const s64 more = static_cast<s64>(counters(t)[i] - w.late[i]);
    if (more == 0) continue;
    w.late[i] = counters(t)[i];
    channel::Totals totals;
    totals.add(segment(i), more);
    count_down(t, totals);
  }
}

/// Restores the countdowns to their true values.
void settle_countdowns(Thread* t) {
  if (own(t).leaves_next != 0) {
    own(t).leaves_next = 0;
    for (u32 k = 0; k < requested().triggers; k++) t->countdown[k] += countdown_leaves;
  }
  subtract_late_counts(t);
}

/// Returns the trigger whose window is full, for a thread in single steps; the number of triggers if there is none.
u32 full_trigger(const Thread* t) {
  u32 k = 0;
  while (k < requested().triggers && t->countdown[k] >= 0) k++;
  return k;
}

void set_single_steps(Thread* t, bool in_steps) {
  if ((t->in_steps != 0) == in_steps) return;
  t->in_steps = in_steps;
  for (u32 k = 0; k < requested().triggers; k++) t->countdown[k] += in_steps ? slack_of(k) : -slack_of(k);
}

bool is_far_from_full(const Thread* t) {
  for (u32 k = 0; k < requested().triggers; k++)
    if (t->countdown[k] < slack_of(k)) return false;
  return true;
}

}  // namespace

void windows_init() {
  if (!windows_on()) return;
  records_init();
  if (requested().reads != 0) translate::on_read = windows_read;
}

u64 windows_key() {
  if (!windows_on()) return 0;
  constexpr u32 bytes = sizeof(channel::WindowTrigger::weight);
  const u64 paths = requested().paths | u64{requested().reads} << 8;
  u64 words[(channel::window_trigger_limit * bytes + channel::window_sum_limit * bytes) / 8 + 2] = {
      requested().triggers | paths << 16 | u64{summed_events.count} << 32, reads_all_counters() && !marks_on()};
  u8* to = reinterpret_cast<u8*>(&words[2]);
  for (u32 k = 0; k < requested().triggers; k++) copy(to + k * bytes, requested().trigger[k].weight, bytes);
  to += channel::window_trigger_limit * bytes;
  for (u32 i = 0; i < summed_events.count; i++)
    copy(to + i * bytes, settings().marks.weight[summed_events.row[i]], bytes);
  return channel::check_of(words, sizeof words) | 1;
}

channel::NoteRing* window_ring(const Thread* t) { return own(t).ring; }

bool windows_attach(Thread* t) {
  if (!windows_on()) return true;
  ThreadWindows& w = own(t);
  if (w.ring == nullptr)
    w.ring = reinterpret_cast<channel::NoteRing*>(try_reserve(channel::note_ring_bytes, read_write));
  if (w.ring == nullptr) return false;
  w.block = notes_attach(t, RingContent::windows, false);
  if (w.block == 0) return false;
  if (requested().vectors != 0 && w.vector == nullptr)
    w.vector = reinterpret_cast<u64*>(try_reserve(vector_limit * sizeof(u64), read_write));
  if (requested().vectors != 0 && w.vector == nullptr) return false;
  begin_block(w);
  w.words = w.number = w.leaves_next = w.stays = 0;
  w.last = 0;
  if (requested().paths != 0) t->path = {};
  for (u32 k = 0; k < requested().triggers; k++) w.ended[k] = amount_of(k, records().thread(t->index).base);
  windows_folded(t);
  t->in_steps = 1;
  t->past_check = 0;
  begin_window(t);
  if (requested().bounded != 0 && w.window_state == WindowState::counted)
    write_row(t, channel::window_starts);
  else
    read_row(t, w.row);
  return true;
}

void windows_of_program(Thread* t) {
  own(t).window_state = requested().waits != 0 ? WindowState::waits : WindowState::counted;
}

void windows_inherit(Thread* t, const Thread* parent) {
  if (windows_on()) own(t).window_state = own(parent).window_state;
}

void windows_start(Thread* t) {
  ThreadWindows& w = own(t);
  if (w.window_state != WindowState::waits) return;
  set_single_steps(t, true);
  settle_countdowns(t);
  write_row(t, channel::window_starts);
  w.window_state = WindowState::counted;
  begin_window(t);
}

void windows_stop(Thread* t) {
  ThreadWindows& w = own(t);
  if (w.window_state != WindowState::counted) return;
  set_single_steps(t, true);
  settle_countdowns(t);
  if (const u32 k = full_trigger(t); k < requested().triggers) {
    write_row(t, k);
    begin_window(t);
  }
  write_row(t, channel::window_stops);
  w.number += requested().repeats;
  w.window_state = requested().repeats != 0 ? WindowState::waits : WindowState::done;
  w.stays = 0;
  begin_window(t);
}

bool are_windows_open(const Thread* t) { return own(t).window_state == WindowState::counted; }

void windows_before_fold(Thread* t) {
  if (!windows_on()) return;
  subtract_late_counts(t);
  if (requested().vectors == 0) return;
  // Segment numbers may have another meaning afterwards.
  (void)totals_of(t);
  write_parts(t, 0);
}

void windows_folded(Thread* t) {
  if (!windows_on()) return;
  if (requested().paths == 0)
    for (s64& sum : t->sums) sum = 0;
  for (u64& late : own(t).late) late = 0;
}

void windows_close(Thread* t) {
  if (!windows_on() || own(t).ring->open == 0) return;
  if (t->in_steps == 0) set_single_steps(t, true);
  settle_countdowns(t);
  EventSums now;
  read_row(t, now);
  bool differs = false;
  for (u32 e = 0; e < settings().marks.events; e++) differs |= now.of[e] != own(t).row.of[e];
  if (differs && own(t).window_state == WindowState::counted)
    write_row(t, full_trigger(t) < requested().triggers ? full_trigger(t) : u32{channel::window_cut});
  publish(t, true);
}

void windows_read(Thread* t, channel::Source source, u64 pc, u64 value) {
  if (own(t).window_state == WindowState::counted) write_read(t, source, pc, value);
}

void windows_step(Thread* t) {
  if (windows_on()) own(t).last = t->pc;
}

void windows_settle(Thread* t) {
  if (!windows_on() || t->past_check != 0) return;
  settle_countdowns(t);
  if (t->in_steps == 0 && full_trigger(t) < requested().triggers) set_single_steps(t, true);
  if (t->in_steps == 0) return;
  if (const u32 k = full_trigger(t); k < requested().triggers) {
    write_row(t, k);
    begin_window(t);
    review_at_times(t);
  }
  if (own(t).stays == 0 && is_far_from_full(t)) set_single_steps(t, false);
}

namespace {

/// Called before an instruction that may fill the window, or whose counts are known only after it.
void before_last(Thread* t, const Trace& trace) {
  t->pc = trace.pc;
  settle_countdowns(t);
  if (full_trigger(t) < requested().triggers) return;
  ThreadWindows& w = own(t);
  w.last = t->pc;
  w.stays = 0;
  w.leaves_next = 1;
  for (u32 k = 0; k < requested().triggers; k++) t->countdown[k] -= countdown_leaves;
  t->past_check = 1;
}

void leave_at(Thread* t, u64 pc) {
  t->pc = pc;
  set_single_steps(t, true);
  own(t).stays = 1;
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
