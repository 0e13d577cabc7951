#include "tally/engine/instrument/part_probes.hpp"

#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/decimal.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/asked_values.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/located_probes.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/mix_rows.hpp"
#include "tally/engine/translate/program_marks.hpp"

namespace tally::engine::instrument {
namespace {

using channel::AtStart;
using channel::CountedValues;
using channel::PartCounts;
using channel::PartEnd;

constexpr u32 parts_at = 0xfc000;  // from the GS base

/// The state of a thread.
struct ThreadParts {
  bool collects, counts;
  u32 record;   // number of its PartCounts, from 1; 0: none yet
  u32 entries;  // how often it began to count in this part
  CountedValues start, sum;
};
static_assert(parts_at + sizeof(ThreadParts) <= running_at);

ThreadParts& own(const Thread* t) { return *reinterpret_cast<ThreadParts*>(reinterpret_cast<u64>(t) + parts_at); }

/// A work item that is open.
struct WorkItem {
  u64 id;
  u32 begun;  // how often, without the ends
};
constexpr u32 work_item_limit = 8;

/// The name of a work item.
struct WorkName {
  char text[32] = "work ";
  void set(u64 id) { *write_decimal(text + 5, id) = 0; }
};

/// The state of the process. The caller holds threads_lock.
struct ProcessParts {
  bool is_used = false;     // a mark was executed
  bool is_decided = false;  // whether instrumentation and collection were on at the start
  bool instruments = true, collects_at_start = true;
  u32 number = 1, label = 1;             // of the current part: see PartCounts
  const char* name = nullptr;            // of what the last start separates
  WorkItem items[work_item_limit] = {};  // the last one is the innermost
  u32 item_count = 0;
  WorkName item_name;                 // of the innermost
  bool instrumented = false;          // before the outermost began
  const char* name_before = nullptr;  // the same
  u32 ended_count = 0;
  u32 ended[1u << 13] = {};  // records of threads that have ended in this part
};
constinit ProcessParts all;

/// Counts instructions in the innermost call, if calls are followed.
void count_in_calls(Thread* t, s64 instructions) {
  for (u32 e = 0; calls_on() && e < translate::summed_events.count; e++)
    t->sums[e] += settings().marks.weight[e][channel::instructions] * instructions;
}

// --- records --------------------------------------------------------------------------------------------------------

void write_at(u32 record, const void* from, u64 bytes, u64 at) {
  if (!write_to_channel(from, bytes, channel::part_counts_offset(record - 1) + at))
    mark_partial(current(), channel::partial_parts);
}

void copy_name(char (&to)[sizeof PartCounts::name], const char* name) {
  u32 n = 0;
  while (name != nullptr && n + 1 < sizeof to && name[n] != 0) n++;
  copy(to, name, n);
}

void write_record(Thread* t, PartEnd end, const char* name, const CountedValues& values, bool is_cut) {
  ThreadParts& p = own(t);
  if (p.record == 0) {
    const u32 number = __atomic_fetch_add(&records().header().next_part, 1, __ATOMIC_RELAXED);
    if (number >= channel::part_counts_limit) return;  // the command reports it
    p.record = number + 1;
  }
  PartCounts counts{};
  counts.state = 1;
  counts.process = t->process;
  counts.thread = t->index;
  counts.number = all.number;
  counts.label = all.label;
  counts.entries = p.entries;
  counts.cut = is_cut ? 1 : 0;
  counts.end = end;
  copy_name(counts.name, name);
  counts.values = values;
  write_at(p.record, &counts, sizeof counts, 0);
}

void discard_record(u32 record) {
  const u32 unused = 0;
  if (record != 0) write_at(record, &unused, sizeof unused, offsetof(PartCounts, state));
}

/// Adds the end of the part to the records of threads that have ended in it.
void end_records_of_ended(PartEnd end, const char* name) {
  struct {
    PartEnd end;
    char name[sizeof PartCounts::name];
  } tail{end, {}};
  static_assert(offsetof(PartCounts, name) == offsetof(PartCounts, end) + sizeof tail.end);
  copy_name(tail.name, name);
  for (u32 i = 0; i < all.ended_count; i++) write_at(all.ended[i], &tail, sizeof tail, offsetof(PartCounts, end));
  all.ended_count = 0;
}

// --- changes --------------------------------------------------------------------------------------------------------

/// Moves the instructions of the mark at which the thread is from the part that it has just entered to none: they are
/// counted there when they run.
void leave_out_mark(Thread* t, u32 instructions) {
  for (u32 i = 0; i < instructions; i++) {
    const u64 pc = t->pc + translate::offset_in_mark(t->pc, i);
    channel::Totals one, less;
    one.field[channel::instructions] = 1;
    translate::add_mix_at(one, pc);
    less.add(one, -1);
    code_log_correct(t, pc, less, t->part);
    code_log_correct(t, pc, one, 0);
  }
  count_in_calls(t, -static_cast<s64>(instructions));
}

/// If there is a code log: moves what the thread has counted to its part, and enters the part with this label.
void enter_part(Thread* t, u32 label, u32 instructions) {
  if (!logs_code() || t->part == label) return;
  if (t->part == 0) count_in_calls(t, instructions);
  calls_collect(t);
  collect_counts(t);
  models_settle(t);
  code_log_enter_part(t, label);
  located_values_enter_part(t, label);
  if (label != 0) leave_out_mark(t, instructions);
}

/// Returns what a thread has counted, plus the instructions of the mark at which it is.
CountedValues values_now(Thread* t, u32 instructions) {
  prepare_values(t);
  CountedValues now = counted_values(t, false);
  now.totals.field[channel::instructions] += instructions;
  for (u32 i = 0; i < instructions; i++) translate::add_mix_at(now.totals, t->pc + translate::offset_in_mark(t->pc, i));
  return now;
}

void begin_counting(Thread* t, u32 instructions) {
  ThreadParts& p = own(t);
  p.start = values_now(t, instructions);
  p.counts = true;
  p.entries++;
  enter_part(t, all.label, instructions);
}

/// Returns what the thread has counted in this part.
CountedValues sum_now(Thread* t) {
  CountedValues sum = own(t).sum;
  if (!own(t).counts) return sum;
  sum.add(values_now(t, 0));
  sum.add(own(t).start, -1);
  return sum;
}

void end_counting(Thread* t) {
  ThreadParts& p = own(t);
  p.sum = sum_now(t);
  p.counts = false;
  write_record(t, PartEnd::process, all.name, p.sum, false);
  enter_part(t, 0, 0);
}

/// Begins or ends counting of a thread, as its state requires.
void update(Thread* t, u32 instructions) {
  const bool should = all.instruments && own(t).collects;
  if (should && !own(t).counts) begin_counting(t, instructions);
  if (!should && own(t).counts) end_counting(t);
}

/// Begins a part in a thread.
void reset(Thread* t, u32 instructions) {
  ThreadParts& p = own(t);
  p.sum = {};
  p.record = 0;
  p.entries = 0;
  if (p.counts) begin_counting(t, instructions);
}

template <class F>
void each_thread(const Thread* of, F&& f) {
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->process == of->process) f(o);
}

/// Discards the part, and lets the next one begin in each thread.
void discard(Thread* t, u32 instructions) {
  each_thread(t, [&](Thread* o) {
    discard_record(own(o).record);
    own(o).record = 0;
  });
  for (u32 i = 0; i < all.ended_count; i++) discard_record(all.ended[i]);
  all.ended_count = 0;
  if (logs_code()) write_record(t, PartEnd::discarded, nullptr, {}, false);
  all.label++;
  each_thread(t, [&](Thread* o) { reset(o, o == t ? instructions : 0); });
}

/// The first mark shows what was on at the start. What was not on has counted nothing.
void decide(Thread* t, bool instruments, bool collects) {
  if (all.is_decided) return;
  all.is_decided = true;
  all.instruments = instruments;
  all.collects_at_start = collects;
  each_thread(t, [&](Thread* o) { own(o).collects = collects; });
  if (instruments && collects) return;
  each_thread(t, [&](Thread* o) {
    own(o).counts = false;
    enter_part(o, 0, 0);
  });
  discard(t, 0);
}

void dump(Thread* t, const char* name, u32 instructions) {
  const PartEnd end = name != nullptr ? PartEnd::named_dump : PartEnd::dump;
  each_thread(t, [&](Thread* o) {
    // A profile has a file for each dump.
    if (own(o).entries != 0 || (o == t && logs_code())) write_record(o, end, name, sum_now(o), false);
  });
  end_records_of_ended(end, name);
  all.number++;
  all.label++;
  each_thread(t, [&](Thread* o) { reset(o, o == t ? instructions : 0); });
}

/// Each part has areas of the channel: beyond the limit, marks end no part, and the command reports it.
bool has_room_for_part() {
  u32& next = records().header().next_part;
  if (__atomic_load_n(&next, __ATOMIC_RELAXED) < channel::part_counts_limit) return true;
  __atomic_store_n(&next, channel::part_counts_limit + 1, __ATOMIC_RELAXED);
  return false;
}

/// Switches instrumentation on or off in all threads.
void instrument(Thread* t, bool is_on, u32 instructions) {
  all.instruments = is_on;
  each_thread(t, [&](Thread* o) { update(o, o == t ? instructions : 0); });
}

void act(Thread* t, PartAction action, const char* name, u32 instructions) {
  all.is_used = true;
  switch (action) {
    case PartAction::start:
    case PartAction::stop:
      decide(t, action == PartAction::stop, true);
      if (action == PartAction::start) all.name = name;
      instrument(t, action == PartAction::start, instructions);
      break;
    case PartAction::toggle:
      decide(t, true, false);
      own(t).collects = !own(t).collects;
      if (own(t).collects) all.name = name;
      update(t, instructions);
      break;
    case PartAction::dump:
      if (!has_room_for_part()) break;
      decide(t, true, true);
      dump(t, name, instructions);
      break;
    case PartAction::zero:
      if (has_room_for_part()) discard(t, instructions);
      break;
  }
}

/// Returns the index of an open work item; if there is none, the number of open items.
u32 find_item(u64 id) {
  u32 i = 0;
  while (i < all.item_count && all.items[i].id != id) i++;
  return i;
}

void name_innermost() {
  all.item_name.set(all.items[all.item_count - 1].id);
  all.name = all.item_name.text;
}

void begin_item(Thread* t, u64 id, u32 instructions) {
  all.is_used = true;
  decide(t, false, true);
  const u32 i = find_item(id);
  if (i < all.item_count) {
    all.items[i].begun++;
    return;
  }
  // The time of further items belongs to the innermost one.
  if (all.item_count == work_item_limit || !has_room_for_part()) return;
  if (all.item_count == 0) {
    all.instrumented = all.instruments;
    all.name_before = all.name;
  }
  if (all.instruments) dump(t, all.name, instructions);
  all.items[all.item_count++] = {id, 1};
  name_innermost();
  if (!all.instruments) instrument(t, true, instructions);
}

void end_item(Thread* t, u64 id, u32 instructions) {
  const u32 i = find_item(id);
  if (i == all.item_count || --all.items[i].begun != 0) return;
  const bool is_innermost = i + 1 == all.item_count;
  all.item_count--;
  for (u32 k = i; k < all.item_count; k++) all.items[k] = all.items[k + 1];
  if (!is_innermost) return;
  if (all.item_count == 0 && !all.instrumented) instrument(t, false, 0);
  if (has_room_for_part()) dump(t, all.item_name.text, instructions);
  if (all.item_count != 0)
    name_innermost();
  else
    all.name = all.name_before;
}

/// Holds the other threads of the process, where their counts are exact. Returns whether there are any.
bool hold_all(Thread* t) {
  if (is_last(t) || leaving()) return false;
  take_turn(t);
  if (!hold_others(t)) mark_partial(t, channel::partial_not_parked);
  return true;
}

}  // namespace

void parts_init() {
  const channel::PartSettings& of = settings().parts;
  if (of.instrumentation == AtStart::automatic && of.collection == AtStart::automatic) return;
  all.is_decided = true;
  all.instruments = of.instrumentation != AtStart::off;
  all.collects_at_start = of.collection != AtStart::off;
}

void parts_attach(Thread* t, bool goes_on) {
  if (!parts_on()) return;
  ThreadParts& p = own(t);
  if (!goes_on) {
    p.collects = all.collects_at_start;
    p.counts = all.instruments && p.collects;
  } else {
    all.number = 1;
    all.label++;
    all.ended_count = 0;
  }
  p.sum = {};
  p.start = {};
  p.start.totals = records().thread(t->index).base;
  if (settings().models.on != 0) p.start.models = model_counts(t)->values;
  p.record = 0;
  p.entries = p.counts ? 1 : 0;
  if (!logs_code()) return;
  code_log_enter_part(t, p.counts ? all.label : 0);
  located_values_enter_part(t, t->part);
}

void parts_end(Thread* t) {
  if (!parts_on() || !all.is_used || own(t).entries == 0) return;
  ThreadParts& p = own(t);
  // Without its process, a thread ends no part.
  const bool is_cut = p.counts && process_record(t).end != channel::End::unknown;
  write_record(t, PartEnd::process, all.name, sum_now(t), is_cut);
  if (p.record != 0 && all.ended_count < sizeof all.ended / sizeof all.ended[0])
    all.ended[all.ended_count++] = p.record;
}

namespace {

/// Calls f with threads_lock, and if `concerns_all` while the other threads of the process are held.
template <class F>
void change(Thread* t, bool concerns_all, F&& f) {
  if (!parts_on()) return;
  prepare_values(t);  // takes cache_lock, which comes before threads_lock
  const bool held = concerns_all && hold_all(t);
  {
    Guard guard(threads_lock);
    f();
  }
  if (held) give_turn(t);
}

}  // namespace

void change_parts(Thread* t, PartAction action, const char* name, u32 instructions) {
  // A toggle concerns one thread, but the first mark shows what was on in all.
  const bool concerns_all = action != PartAction::toggle || !all.is_decided;
  change(t, concerns_all, [&] { act(t, action, name, instructions); });
}

void toggle_collection(Thread* t) { change_parts(t, PartAction::toggle, collected, 0); }

void begin_work_item(Thread* t, u64 id, u32 instructions) {
  change(t, true, [&] { begin_item(t, id, instructions); });
}

void end_work_item(Thread* t, u64 id, u32 instructions) {
  change(t, true, [&] { end_item(t, id, instructions); });
}

}  // namespace tally::engine::instrument
