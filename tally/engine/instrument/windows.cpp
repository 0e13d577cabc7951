#include "tally/engine/instrument/windows.hpp"

#include "tally/channel/store.hpp"
#include "tally/engine/clock.hpp"
#include "tally/engine/code_log.hpp"
#include "tally/engine/instrument/marks.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/translate/countdown.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/review.hpp"
#include "tally/engine/translate/uncounted.hpp"

namespace tally::engine::instrument {
namespace {

constexpr u32 windows_at = 0xf2300;  // from the GS base

/// What a thread keeps for its windows.
struct ThreadWindows {
  channel::NoteRing* ring;
  u64 block;        // where the rows go that are being written
  u32 rows, bytes;  // that are there
  u32 words;        // of the vector so far
  u64* vector;
  u32 number;                                // of the last one
  u64 last;                                  // address of the instruction that may be the last of the window
  u32 leaves_next;                           // countdowns are so low that the next check leaves
  u32 stays;                                 // in steps, up to the next check
  s64 ended[channel::window_trigger_limit];  // of the events of triggers, in all windows that have ended
  EventSums row;                             // the last one
  u64 late[channel::first_segment];  // the counters of what is known only at run time, as they are in the countdowns
};
static_assert(windows_at + sizeof(ThreadWindows) <= 0xf4000 /* mark_counts_at */);

ThreadWindows& own(const Thread* t) { return *reinterpret_cast<ThreadWindows*>(reinterpret_cast<u64>(t) + windows_at); }
const channel::Windows& asked() { return settings().windows; }

/// Where a row of Marks::weight comes from.
enum Source : u8 { of_sum, of_trigger, of_counters };
struct {
  Source source;
  u8 number;
} source_of_event[channel::mark_event_limit];
bool reads_counters;

bool is_trigger(u32 event, u32 trigger) {
  for (u32 i = 0; i < channel::mark_fields; i++)
    if (settings().marks.weight[event][i] != asked().trigger[trigger].weight[i]) return false;
  for (u32 i = channel::mark_fields; i < channel::mark_figures; i++)
    if (settings().marks.weight[event][i] != 0) return false;
  return true;
}

/// Generated code sums events where they are few: that is cheaper than to read all counters at each row.
void choose_sources() {
  const channel::Marks& marks = settings().marks;
  u32 sums = 0;
  for (u32 e = 0; e < marks.events; e++) {
    u32 k = 0;
    while (k < asked().triggers && !is_trigger(e, k)) k++;
    const bool triggers = k < asked().triggers;
    source_of_event[e] = {triggers ? of_trigger : of_sum, static_cast<u8>(triggers ? k : sums)};
    if (triggers) continue;
    if (sums < channel::window_sum_limit) summed_events.row[sums] = static_cast<u8>(e);
    sums++;
  }
  reads_counters = sums > channel::window_sum_limit || marks.modelled != 0 || marks_on() || asked().vectors != 0;
  summed_events.count = reads_counters ? 0 : sums;
}

/// What counters of what is known only at run time, and corrections, add to an event.
s64 beside_sums(Thread* t, u32 event) {
  channel::Totals totals = records().thread(t->index).base;
  for (u32 i = 1; i < channel::first_segment; i++)
    if (counters(t)[i] != 0) channel::add(totals, segment(i), static_cast<s64>(counters(t)[i]));
  s64 n = 0;
  for (u32 i = 0; i < channel::mark_fields; i++) n += settings().marks.weight[event][i] * totals.field[i];
  return n;
}

s64 in_window(Thread* t, u32 trigger) {
  return static_cast<s64>(asked().trigger[trigger].every) - 1 - t->countdown[trigger];
}

void read_row(Thread* t, EventSums& sums) {
  if (reads_counters) return read_events(t, sums);
  for (u32 e = 0; e < settings().marks.events; e++) {
    const auto [source, number] = source_of_event[e];
    sums.of[e] =
        source == of_trigger ? own(t).ended[number] + in_window(t, number) : t->sums[number] + beside_sums(t, e);
  }
}

/// Lower than any countdown.
constexpr s64 far_below = s64{1} << 60;

void begin_window(Thread* t) {
  for (u32 k = 0; k < asked().triggers; k++) t->countdown[k] = static_cast<s64>(asked().trigger[k].every) - 1;
}

/// The processor that the thread runs on, as the kernel writes it into a segment's limit for the vdso.
u32 this_cpu() {
  u32 limit = 0;
  asm volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7b) : "cc");
  return limit & 0xfff;
}

/// Rows with vectors are of any length: what an earlier block left there must not look like one.
void begin_block(ThreadWindows& w) {
  w.rows = w.bytes = 0;
  if (asked().vectors != 0) __builtin_memset(reinterpret_cast<void*>(w.block), 0, channel::note_block_bytes);
}

void publish(Thread* t, bool closes) {
  ThreadWindows& w = own(t);
  w.block = notes_publish(t, Handed::windows, {.count = w.rows, .forks = 0, .closes = closes, .returns = 0});
  begin_block(w);
}

channel::WindowRow& next_row(const ThreadWindows& w) {
  return *reinterpret_cast<channel::WindowRow*>(w.block + w.bytes);
}

/// How many words have room in the next row.
u32 room_for_words(const ThreadWindows& w) {
  return static_cast<u32>((channel::note_block_bytes - w.bytes - channel::window_row_bytes(settings().marks.events)) /
                          sizeof(u64));
}

/// The next row, all but its words, is written; then the first `n` words of the vector stand there.
void end_row(Thread* t, u32 number, u32 n) {
  ThreadWindows& w = own(t);
  channel::WindowRow& row = next_row(w);
  row.words = n;
  row.log = n != 0 ? code_log_number() : 0;
  copy(&row.sum[settings().marks.events], w.vector, n * sizeof(u64));
  w.words -= n;
  for (u32 i = 0; i < w.words; i++) w.vector[i] = w.vector[i + n];
  __atomic_store_n(&row.number, number, __ATOMIC_RELEASE);
  const u32 bytes = channel::window_row_bytes(settings().marks.events);
  w.bytes += channel::window_row_bytes(settings().marks.events, n);
  w.rows++;
  if (w.bytes + bytes > channel::note_block_bytes) publish(t, false);
}

/// The window is still open, or its row comes next: all of the vector but the last `most` words.
void write_parts(Thread* t, u32 most) {
  ThreadWindows& w = own(t);
  while (w.words > most) {
    const u32 room = room_for_words(w), n = room < w.words ? room : w.words;
    next_row(w).ended_by = channel::window_part;
    end_row(t, w.number + 1, n);
  }
}

void write_row(Thread* t, u32 ended_by) {
  ThreadWindows& w = own(t);
  const u32 events = settings().marks.events;
  read_row(t, w.row);
  write_parts(t, room_for_words(w));
  channel::WindowRow& row = next_row(w);
  row.time_ns = clock_ns();
  row.address = ended_by == channel::window_cut ? 0 : w.last;
  row.ended_by = static_cast<u16>(ended_by);
  row.cpu = static_cast<u16>(this_cpu());
  for (u32 e = 0; e < events; e++) row.sum[e] = w.row.of[e];
  for (u32 k = 0; k < asked().triggers; k++) w.ended[k] += in_window(t, k);
  end_row(t, ++w.number, w.words);
}

constexpr u32 vector_limit = 1u << 15;

void add_word(Thread* t, u64 word) {
  ThreadWindows& w = own(t);
  w.vector[w.words++] = word;
}

/// A segment was executed so often.
void executed(Thread* t, u32 number, u64 times) {
  if (number < channel::first_segment) return;
  constexpr u64 most = 0xffffffff;
  for (; times != 0; times -= times < most ? times : most) {
    if (own(t).words == vector_limit) write_parts(t, 0);
    add_word(t, channel::window_word(number, static_cast<u32>(times < most ? times : most)));
  }
}

/// The instruction at `pc` was executed so often beside what segments say.
void corrected(Thread* t, u64 pc, const channel::Totals& delta) {
  const s64 times = delta.field[channel::instructions];
  if (times == 0 || own(t).vector == nullptr) return;
  if (own(t).words + 2 > vector_limit) write_parts(t, 0);
  add_word(t, channel::window_word(channel::word_corrects, static_cast<u32>(static_cast<s32>(times))));
  add_word(t, pc);
}

/// What string instructions and their like counted reaches the countdowns after they ran.
void take_late(Thread* t) {
  ThreadWindows& w = own(t);
  for (u32 i = 1; i < channel::first_segment; i++) {
    const s64 more = static_cast<s64>(counters(t)[i] - w.late[i]);
    if (more == 0) continue;
    w.late[i] = counters(t)[i];
    channel::Totals totals;
    channel::add(totals, segment(i), more);
    count_down(t, totals);
  }
}

/// Countdowns are what they are.
void settle_countdowns(Thread* t) {
  if (own(t).leaves_next != 0) {
    own(t).leaves_next = 0;
    for (u32 k = 0; k < asked().triggers; k++) t->countdown[k] += far_below;
  }
  take_late(t);
}

/// The trigger whose window is full, of a thread in steps; as many as there are where none is.
u32 full(const Thread* t) {
  u32 k = 0;
  while (k < asked().triggers && t->countdown[k] >= 0) k++;
  return k;
}

void go_in_steps(Thread* t, bool in_steps) {
  if ((t->in_steps != 0) == in_steps) return;
  t->in_steps = in_steps;
  for (u32 k = 0; k < asked().triggers; k++) t->countdown[k] += in_steps ? slack_of(k) : -slack_of(k);
}

bool is_far_from_full(const Thread* t) {
  for (u32 k = 0; k < asked().triggers; k++)
    if (t->countdown[k] < slack_of(k)) return false;
  return true;
}

class WindowProbes final : public Probes {
 public:
  void counted(Builder& b, u32 number, bool) override { emit_touched(b, number); }
};
constinit WindowProbes hooks;

}  // namespace

void windows_init() {
  if (!windows_on()) return;
  choose_sources();
  if (reads_counters && !marks_on()) probe_with(hooks);
  if (asked().vectors == 0) return;
  on_executions = executed;
  on_correction = corrected;
}

u64 windows_key() {
  if (!windows_on()) return 0;
  constexpr u32 bytes = sizeof(channel::WindowTrigger::weight);
  u64 words[(channel::window_trigger_limit * bytes + channel::window_sum_limit * bytes) / 8 + 2] = {
      asked().triggers | u64{summed_events.count} << 32, reads_counters && !marks_on()};
  u8* to = reinterpret_cast<u8*>(&words[2]);
  for (u32 k = 0; k < asked().triggers; k++) copy(to + k * bytes, asked().trigger[k].weight, bytes);
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
  w.block = notes_attach(t, Handed::windows, false);
  if (w.block == 0) return false;
  if (asked().vectors != 0 && w.vector == nullptr)
    w.vector = reinterpret_cast<u64*>(try_reserve(vector_limit * sizeof(u64), read_write));
  if (asked().vectors != 0 && w.vector == nullptr) return false;
  begin_block(w);
  w.words = w.number = w.leaves_next = w.stays = 0;
  w.last = 0;
  for (u32 k = 0; k < asked().triggers; k++) w.ended[k] = amount_of(k, records().thread(t->index).base);
  windows_folded(t);
  t->in_steps = 1;
  t->past_check = 0;
  begin_window(t);
  read_row(t, w.row);
  return true;
}

void windows_before_fold(Thread* t) {
  if (!windows_on()) return;
  take_late(t);
  if (asked().vectors == 0) return;
  // Their numbers may mean something else afterwards.
  (void)totals_of(t);
  write_parts(t, 0);
}

void windows_folded(Thread* t) {
  for (s64& sum : t->sums) sum = 0;
  for (u64& late : own(t).late) late = 0;
}

void windows_close(Thread* t) {
  if (!windows_on() || own(t).ring->open == 0) return;
  if (t->in_steps == 0) go_in_steps(t, true);
  settle_countdowns(t);
  EventSums now;
  read_row(t, now);
  bool differs = false;
  for (u32 e = 0; e < settings().marks.events; e++) differs |= now.of[e] != own(t).row.of[e];
  if (differs) write_row(t, full(t) < asked().triggers ? full(t) : u32{channel::window_cut});
  publish(t, true);
}

void windows_step(Thread* t) {
  if (windows_on()) own(t).last = t->pc;
}

void windows_settle(Thread* t) {
  if (!windows_on() || t->past_check != 0) return;
  settle_countdowns(t);
  if (t->in_steps == 0 && full(t) < asked().triggers) go_in_steps(t, true);
  if (t->in_steps == 0) return;
  if (const u32 k = full(t); k < asked().triggers) {
    write_row(t, k);
    begin_window(t);
    review_at_times(t);
  }
  if (own(t).stays == 0 && is_far_from_full(t)) go_in_steps(t, false);
}

namespace {

/// Before an instruction that may fill the window, or of which nobody knows how much it counts.
void before_last(Thread* t, const Trace& trace) {
  t->pc = trace.pc;
  settle_countdowns(t);
  if (full(t) < asked().triggers) return;
  ThreadWindows& w = own(t);
  w.last = t->pc;
  w.stays = 0;
  w.leaves_next = 1;
  for (u32 k = 0; k < asked().triggers; k++) t->countdown[k] -= far_below;
  t->past_check = 1;
}

void leave_at(Thread* t, u64 pc) {
  t->pc = pc;
  go_in_steps(t, true);
  own(t).stays = 1;
}

void leave_trace(Thread* t, const Reached& r) {
  const CacheLocation& s = r.spot;
  const u32 number = s.trace->number + s.place->segment;
  const u64 pc = s.trace->pc + static_cast<u64>(static_cast<s64>(s.place->pc));
  for (u32 k = 0; k < r.triggers; k++) t->countdown[k] += amount_of(k, segment(number));
  if (s.trace->segments[s.place->segment].first == Segment::is_exit) {
    channel::Totals all;
    channel::add(all, segment(number), 1);
    correct(t, pc, all);
  } else {
    correct(t, pc, uncounted_at(s));
  }
  leave_at(t, pc);
}

}  // namespace

}  // namespace tally::engine::instrument

namespace tally::engine::translate {

extern "C" void window_reached(Thread* t) {
  const Reached r = reached(t->resume, t->pc);
  if (r.steps != nullptr)
    instrument::before_last(t, *r.steps);
  else if (r.first != nullptr)
    instrument::leave_at(t, r.first->pc);
  else
    instrument::leave_trace(t, r);
  dispatch(t);
}

}  // namespace tally::engine::translate
