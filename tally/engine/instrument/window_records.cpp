#include "tally/engine/instrument/window_records.hpp"

#include "tally/engine/channel/run_time_counters.hpp"
#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/clock.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/source_probes.hpp"
#include "tally/engine/translate/uncounted.hpp"

namespace tally::engine::instrument {
namespace {

ThreadWindows& own(const Thread* t) { return windows_of(t); }
const channel::Windows& requested() { return asked_windows(); }

/// The source of an event of Marks::weight.
enum Source : u8 { of_sum, of_trigger, of_counters };
struct {
  Source source;
  u8 number;
} source_of_event[channel::weight_limit];
bool reads_counters;

bool is_trigger(u32 event, u32 trigger) {
  for (u32 i = 0; i < channel::mark_fields; i++)
    if (settings().marks.weight[event][i] != requested().trigger[trigger].weight[i]) return false;
  for (u32 i = channel::mark_fields; i < channel::mark_values; i++)
    if (settings().marks.weight[event][i] != 0) return false;
  return true;
}

/// Generated code sums events if they are few: that is cheaper than reading all counters for each row.
void choose_sources() {
  const channel::Marks& marks = settings().marks;
  u32 sums = 0;
  for (u32 e = 0; e < marks.events; e++) {
    u32 k = 0;
    while (k < requested().triggers && !is_trigger(e, k)) k++;
    const bool triggers = k < requested().triggers;
    source_of_event[e] = {triggers ? of_trigger : of_sum, static_cast<u8>(triggers ? k : sums)};
    if (triggers) continue;
    if (sums < channel::window_sum_limit) summed_events.weight[sums] = marks.weight[e];
    sums++;
  }
  reads_counters = sums > channel::window_sum_limit || marks.modelled != 0 || marks_on() || requested().vectors != 0;
  summed_events.count = reads_counters ? 0 : sums;
  summed_events.reads_counters = reads_counters && !marks_on();
}

/// Adds what counters of events known only at run time, and corrections, add to the events that generated code sums.
void add_unsummed(Thread* t, EventSums& sums) {
  channel::Totals counted;
  for (u32 i = 1; i < channel::first_segment_of_code(settings()); i++)
    if (counters(t)[i] != 0) add_segment(counted, i, static_cast<s64>(counters(t)[i]));
  const channel::Totals& base = records().thread(t->index).base;
  for (u32 i = 0; i < channel::mark_fields; i++)
    if (const s64 n = base.field[i] + counted.field[i]; n != 0)
      for (u32 e = 0; e < settings().marks.events; e++)
        if (source_of_event[e].source == of_sum) sums.of[e] += settings().marks.weight[e][i] * n;
}

}  // namespace

s64 window_length(const Thread* t, u32 trigger) {
  const channel::Windows& w = requested();
  if (own(t).window_state != WindowState::counted) return static_cast<s64>(channel::window_event_limit);
  const u64 done = own(t).number, before = w.first != 0 ? 1 : 0;
  if (done < before) return static_cast<s64>(w.first);
  const bool is_last = w.most != 0 && done >= before + w.most;
  return static_cast<s64>(is_last ? channel::window_event_limit : w.trigger[trigger].every);
}

s64 in_window(const Thread* t, u32 trigger) { return window_length(t, trigger) - 1 - t->countdown[trigger]; }

void read_row(Thread* t, EventSums& sums) {
  if (reads_counters) return read_events(t, sums);
  for (u32 e = 0; e < settings().marks.events; e++) {
    const auto [source, number] = source_of_event[e];
    sums.of[e] = source == of_trigger ? own(t).ended[number] + in_window(t, number) : t->sums[number];
  }
  if (summed_events.count != 0) add_unsummed(t, sums);
}

/// The kernel writes it into a segment's limit for the vdso.
u32 this_cpu() {
  u32 limit = 0;
  asm volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7b) : "cc");
  return limit & 0xfff;
}

/// Rows with words have any length, so what an earlier block left must not resemble one.
void begin_block(ThreadWindows& w) {
  w.rows = w.bytes = 0;
  if (requested().vectors != 0 || requested().reads != 0)
    __builtin_memset(reinterpret_cast<void*>(w.block), 0, channel::note_block_bytes);
}

void publish(Thread* t, bool closes) {
  ThreadWindows& w = own(t);
  w.block = notes_publish(t, RingContent::windows, {.count = w.rows, .forks = 0, .closes = closes});
  begin_block(w);
}

namespace {

channel::WindowRow& next_row(const ThreadWindows& w) {
  return *reinterpret_cast<channel::WindowRow*>(w.block + w.bytes);
}

/// Returns how many words fit into the next row.
u32 room_for_words(const ThreadWindows& w) {
  return static_cast<u32>((channel::note_block_bytes - w.bytes - channel::window_row_bytes(settings().marks.events)) /
                          sizeof(u64));
}

/// Adds the next row, which is written, to the block.
void complete_row(Thread* t, u32 number) {
  ThreadWindows& w = own(t);
  channel::WindowRow& row = next_row(w);
  __atomic_store_n(&row.number, number, __ATOMIC_RELEASE);
  const u32 largest =
      channel::window_row_bytes(settings().marks.events, requested().reads != 0 ? channel::window_read_callers : 0);
  w.bytes += channel::window_row_bytes(settings().marks.events, row.words);
  w.rows++;
  if (w.bytes + largest > channel::note_block_bytes) publish(t, false);
}

/// Completes the next row, of which everything but the words is written, with the first `n` words of the vector.
void end_row(Thread* t, u32 number, u32 n) {
  ThreadWindows& w = own(t);
  channel::WindowRow& row = next_row(w);
  row.words = n;
  row.log = n != 0 ? code_log_number() : 0;
  copy(&row.sum[settings().marks.events], w.vector, n * sizeof(u64));
  w.words -= n;
  for (u32 i = 0; i < w.words; i++) w.vector[i] = w.vector[i + n];
  complete_row(t, number);
}

}  // namespace

/// Called while the window is open, or before its row.
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
  const bool has_last = ended_by < requested().triggers;
  const bool bounds = ended_by == channel::window_starts || ended_by == channel::window_stops;
  row.time_ns = clock_ns();
  row.address = has_last ? countdown_state(t).last : 0;
  row.path = requested().paths == 0 ? 0 : channel::checksum_with(t->path.now, row.address & (page_bytes - 1));
  row.ended_by = static_cast<u16>(ended_by);
  row.cpu = static_cast<u16>(this_cpu());
  for (u32 e = 0; e < events; e++) row.sum[e] = w.row.of[e];
  for (u32 k = 0; k < requested().triggers; k++) w.ended[k] += in_window(t, k);
  if (!bounds) ++w.number;
  end_row(t, w.number + (bounds ? 1 : 0), w.words);
}

void write_read(Thread* t, channel::Source source, u64 pc, u64 value) {
  ThreadWindows& w = own(t);
  channel::WindowRow& row = next_row(w);
  // Between two steps the countdown is right; otherwise it is lower, so that the thread starts steps in time.
  const s64 ahead = (t->in_steps != 0 ? 0 : slack_of(0)) + (countdown_state(t).leaves_next != 0 ? countdown_leaves : 0);
  row.time_ns = clock_ns();
  row.address = pc;
  row.ended_by = channel::window_read;
  row.cpu = static_cast<u16>(source);
  row.path = value;
  row.sum[0] = w.ended[0] + in_window(t, 0) - ahead;
  row.words = translate::return_addresses(t, reinterpret_cast<u64*>(&row.sum[1]), channel::window_read_callers);
  row.log = 0;
  complete_row(t, w.number + 1);
}

namespace {

void add_word(Thread* t, u64 word) {
  ThreadWindows& w = own(t);
  w.vector[w.words++] = word;
}

/// Adds `times` executions of a segment to the vector.
void add_executions(Thread* t, u32 number, u64 times) {
  if (number < channel::first_segment_of_code(settings()) || own(t).window_state != WindowState::counted) return;
  constexpr u64 most = 0xffffffff;
  for (; times != 0; times -= times < most ? times : most) {
    if (own(t).words == vector_limit) write_parts(t, 0);
    add_word(t, channel::window_word(number, static_cast<u32>(times < most ? times : most)));
  }
}

/// Adds to the vector how often the instruction at `pc` was executed in addition to what segments count.
void add_correction(Thread* t, u64 pc, const channel::Totals& delta) {
  const s64 times = delta.field[channel::instructions];
  if (times == 0 || own(t).vector == nullptr || own(t).window_state != WindowState::counted) return;
  if (own(t).words + 2 > vector_limit) write_parts(t, 0);
  add_word(t, channel::window_word(channel::word_corrects, static_cast<u32>(static_cast<s32>(times))));
  add_word(t, pc);
}

class WindowProbes final : public translate::Probes {
 public:
  void counted(translate::Builder& b, u32 number) override { emit_touched(b, number); }
};
constinit WindowProbes hooks;

}  // namespace

void records_init() {
  choose_sources();
  if (reads_counters && !marks_on()) probe_with(hooks);
  if (requested().vectors == 0) return;
  on_executions = add_executions;
  on_correction = add_correction;
}

}  // namespace tally::engine::instrument
