#include "tally/engine/instrument/window_probes.hpp"

#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/window_records.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/review.hpp"
#include "tally/engine/translate/source_probes.hpp"

namespace tally::engine::instrument {
namespace {

ThreadWindows& own(const Thread* t) { return windows_of(t); }
const channel::Windows& requested() { return asked_windows(); }

void begin_window(Thread* t) {
  for (u32 k = 0; k < requested().triggers; k++) t->countdown[k] = window_length(t, k) - 1;
}

void end_window(Thread* t, u32 ended_by) {
  write_row(t, ended_by);
  begin_window(t);
  translate::review_at_times(t);
}

}  // namespace

void windows_init() {
  if (!windows_on()) return;
  records_init();
  count_down_by(requested().trigger, requested().triggers, end_window);
  if (requested().reads != 0) translate::on_read = windows_read;
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
  w.words = w.number = 0;
  if (requested().paths != 0) t->path = {};
  for (u32 k = 0; k < requested().triggers; k++) w.ended[k] = amount_of(k, records().thread(t->index).base);
  windows_folded(t);
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
  stop_counting_down(t);
  write_row(t, channel::window_starts);
  w.window_state = WindowState::counted;
  begin_window(t);
}

void windows_stop(Thread* t) {
  ThreadWindows& w = own(t);
  if (w.window_state != WindowState::counted) return;
  stop_counting_down(t);
  if (const u32 k = full_countdown(t); k < requested().triggers) {
    write_row(t, k);
    begin_window(t);
  }
  write_row(t, channel::window_stops);
  w.number += requested().repeats;
  w.window_state = requested().repeats != 0 ? WindowState::waits : WindowState::done;
  countdown_state(t).stays = 0;
  begin_window(t);
}

bool are_windows_open(const Thread* t) { return own(t).window_state == WindowState::counted; }

void windows_before_fold(Thread* t) {
  if (!windows_on() || requested().vectors == 0) return;
  // Segment numbers may have another meaning afterwards.
  (void)totals_of(t);
  write_parts(t, 0);
}

void windows_folded(Thread* t) {
  if (windows_on() && requested().paths == 0)
    for (s64& sum : t->sums) sum = 0;
}

void windows_close(Thread* t) {
  if (!windows_on() || own(t).ring->open == 0) return;
  stop_counting_down(t);
  EventSums now;
  read_row(t, now);
  bool differs = false;
  for (u32 e = 0; e < settings().marks.events; e++) differs |= now.of[e] != own(t).row.of[e];
  if (differs && own(t).window_state == WindowState::counted)
    write_row(t, full_countdown(t) < requested().triggers ? full_countdown(t) : u32{channel::window_cut});
  publish(t, true);
}

void windows_read(Thread* t, channel::Source source, u64 pc, u64 value) {
  if (own(t).window_state == WindowState::counted) write_read(t, source, pc, value);
}

}  // namespace tally::engine::instrument
