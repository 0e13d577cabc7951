#include "tally/engine/instrument/python_frames.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/exact_sums.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/model_emit.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/python_code.hpp"
#include "tally/engine/instrument/python_objects.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::instrument {
namespace {

using channel::PythonFunction;
using channel::PythonTable;

constexpr u32 python_at = 0xf3800;  // ThreadPython, an offset from the GS base

/// An active call of a Python function.
struct PythonCall {
  u64 frame;
  u32 function;  // index in the table
};

constexpr u32 call_limit = 1u << 16, slot_count = 1u << 17;
static_assert(channel::python_function_limit < slot_count / 2 + 1);
static_assert(sizeof(PythonTable) + u64{channel::python_function_limit} * sizeof(PythonFunction) <=
              channel::area_bytes);

/// The Python state of a thread.
struct ThreadPython {
  PythonTable* table;  // in the channel
  PythonCall* calls;
  u32* slots;  // function numbers, by code object
  u32 depth;
  u64 state;                              // its PyThreadState
  s64 last[channel::python_event_limit];  // the counts at the last mark
};
static_assert(python_at + sizeof(ThreadPython) <= mark_counts_at);

ThreadPython& own(const Thread* t) { return *reinterpret_cast<ThreadPython*>(reinterpret_cast<u64>(t) + python_at); }

u32 event_count() {
  const u32 n = settings().marks.events;
  return n < channel::python_event_limit ? n : channel::python_event_limit;
}

/// Returns the number of a code object's function, and adds it if it is new; 0 without room.
u32 function_of(ThreadPython& y, u64 code) {
  const CodeObject object = read_code_object(code);
  if (!object.is_valid) return 0;
  u32 i = static_cast<u32>(channel::hash_bits(code >> 4 ^ object.name << 20 ^ object.line, 17));
  for (; y.slots[i] != 0; i = (i + 1) & (slot_count - 1)) {
    const PythonFunction& f = y.table->function[y.slots[i]];
    if (f.code == code && f.name_at == object.name && f.file_at == object.file && f.line == object.line)
      return y.slots[i];
  }
  if (y.table->functions > channel::python_function_limit) {
    y.table->is_cut = 1;
    return 0;
  }
  const u32 number = y.table->functions;
  PythonFunction& f = y.table->function[number];
  f.code = code;
  f.name_at = object.name;
  f.file_at = object.file;
  f.line = object.line;
  read_python_text(object.name, f.name, sizeof f.name, false);
  read_python_text(object.file, f.file, sizeof f.file, true);
  y.slots[i] = number;
  __atomic_store_n(&y.table->functions, number + 1, __ATOMIC_RELEASE);
  return number;
}

bool reads_sums;

void read(Thread* t, EventSums& now) {
  if (!reads_sums) return read_events(t, now, false);
  for (u32 e = 0; e < event_count(); e++) now.of[e] = t->sums[e];
}

void add_to_innermost(ThreadPython& y, const EventSums& now) {
  PythonFunction& f = y.table->function[y.depth == 0 ? 0 : y.calls[y.depth - 1].function];
  for (u32 e = 0; e < event_count(); e++) {
    f.self[e] += now.of[e] - y.last[e];
    y.last[e] = now.of[e];
  }
}

void push(ThreadPython& y, u64 frame, const EventSums& now, bool is_call) {
  if (y.depth == call_limit) {
    y.table->is_cut = 1;
    return;
  }
  const u32 number = function_of(y, code_of_frame(frame));
  PythonFunction& f = y.table->function[number];
  f.calls += is_call;
  if (f.active++ == 0)
    for (u32 e = 0; e < event_count(); e++) f.start[e] = now.of[e];
  y.calls[y.depth++] = {frame, number};
}

void pop(ThreadPython& y, const EventSums& now) {
  PythonFunction& f = y.table->function[y.calls[--y.depth].function];
  if (--f.active != 0) return;
  for (u32 e = 0; e < event_count(); e++) f.inclusive[e] += now.of[e] - f.start[e];
}

/// Ends the calls that are inside that of a frame. False if the frame is not among the innermost `furthest` calls.
bool pop_to(ThreadPython& y, u64 frame, const EventSums& now, u32 furthest) {
  for (u32 i = 0; i < furthest && i < y.depth; i++) {
    if (y.calls[y.depth - 1 - i].frame != frame) continue;
    for (; i > 0; i--) pop(y, now);
    return true;
  }
  return false;
}

/// Makes the frame's call the innermost one. If it is unknown (a coroutine library has switched stacks, a fork, marks
/// that were found late), the active calls are read from the interpreter; they count no further call.
void follow(ThreadPython& y, u64 frame, const EventSums& now) {
  if (pop_to(y, frame, now, call_limit)) return;
  while (y.depth != 0) pop(y, now);
  u32 n = 0;
  for (u64 f = frame; f != 0 && n < call_limit; f = previous_frame(f)) y.calls[n++].frame = f;
  for (u32 i = 0; i < n / 2; i++) {
    const u64 f = y.calls[i].frame;
    y.calls[i].frame = y.calls[n - 1 - i].frame;
    y.calls[n - 1 - i].frame = f;
  }
  while (y.depth < n) push(y, y.calls[y.depth].frame, now, false);
}

PythonTable* map_table(u32 area, u64 address) {
  return reinterpret_cast<PythonTable*>(map_code_log_area(area, address));
}

/// In the child of a fork: a table of its own at the same address, with the same functions and no counts.
bool continue_table(ThreadPython& y, u32 area, const EventSums& now) {
  PythonTable* const added = map_table(area, 0);
  if (added == nullptr) return false;
  added->functions = y.table->functions;
  for (u32 i = 0; i < added->functions; i++) {
    PythonFunction& f = added->function[i];
    f = y.table->function[i];
    f.calls = 0;
    for (u32 e = 0; e < channel::python_event_limit; e++) {
      f.self[e] = f.inclusive[e] = 0;
      f.start[e] = now.of[e];
    }
  }
  y.table = map_table(area, reinterpret_cast<u64>(y.table));
  unreserve(reinterpret_cast<u64>(added), channel::area_bytes);
  return y.table != nullptr;
}

}  // namespace

void python_init() {
  const channel::Marks& marks = settings().marks;
  if (!python_on() || marks.modelled != 0 || marks.cycles_rows != 0) return;
  if (!calls_on()) sum_events(channel::python_event_limit);
  reads_sums = true;
}

bool python_attach(Thread* t, bool goes_on) {
  if (!python_on()) return true;
  ThreadPython& y = own(t);
  EventSums now;
  read(t, now);
  for (u32 e = 0; e < event_count(); e++) y.last[e] = now.of[e];
  const u32 area = code_log_area(channel::CodeRecordKind::python, t->process, t->index);
  if (goes_on && y.table != nullptr) return continue_table(y, area, now);
  y.table = map_table(area, reinterpret_cast<u64>(y.table));
  if (y.table == nullptr || !reserve_table(y.calls, call_limit) || !reserve_table(y.slots, slot_count)) return false;
  discard_pages(y.slots, slot_count * sizeof *y.slots);
  y.depth = 0;
  y.state = 0;
  y.table->functions = 1;
  return true;
}

void python_settle(Thread* t) {
  if (!python_on() || own(t).table == nullptr) return;
  ThreadPython& y = own(t);
  EventSums now;
  read(t, now);
  add_to_innermost(y, now);
  while (y.depth != 0) pop(y, now);
}

namespace {

void enter(Thread* t, ThreadPython& y, u64 state, u64 frame) {
  EventSums now;
  read(t, now);
  add_to_innermost(y, now);
  y.state = state;
  follow(y, current_frame(state), now);
  push(y, frame, now, true);
}

/// Other code may contain the same instruction: this is the store only if it changes the active variable.
void store_frame(Thread* t, ThreadPython& y, u64 address, u64 frame) {
  if (y.state == 0 || address != current_frame_at(y.state)) return;
  EventSums now;
  read(t, now);
  add_to_innermost(y, now);
  frame = python_frame(frame);
  if (frame == 0) return follow(y, 0, now);
  // The interpreter leaves frames one by one.
  if (!pop_to(y, frame, now, 2)) push(y, frame, now, true);
}

void leave(Thread* t, ThreadPython& y) {
  if (y.state == 0) return;
  EventSums now;
  read(t, now);
  add_to_innermost(y, now);
  follow(y, current_frame(y.state), now);
}

}  // namespace

void python_reached(Thread* t, const channel::MarkPoint& point) {
  ThreadPython& y = own(t);
  if (y.table == nullptr) return;
  const FrameStore store = frame_store_of(point.mark);
  const u64 address = t->gpr[store.base] + static_cast<u64>(s64{store.displacement});
  if (point.role == channel::mark_python) return enter(t, y, t->gpr[rdi], t->gpr[rsi]);
  if (point.role == channel::mark_python_frame) return store_frame(t, y, address, t->gpr[store.value]);
  leave(t, y);
}

bool asks_python() { return reads_sums && !translate::is_instrumented; }

void emit_python_mark(translate::Builder& b, const channel::MarkPoint& point) {
  translate::Emitter& e = b.e;
  if (point.role == channel::mark_python_frame) {
    const FrameStore store = frame_store_of(point.mark);
    e.store(store.value, o_model_argument);
    address_of(e, r11, store.base, no_register, 0, store.displacement, false);
    e.store(r11, o_model_a);
  }
  ask(e, b.arena.to_model, python_entry_word + (point.role - channel::mark_python), r11, 0);
}

void python_asked(Thread* t, u32 word) {
  ThreadPython& y = own(t);
  const ModelThread& m = *model_thread(t);
  if (y.table == nullptr) return;
  if (word == python_entry_word) return enter(t, y, m.saved[3], m.saved[2]);
  if (word == python_frame_word) return store_frame(t, y, m.spill[0], m.argument);
  leave(t, y);
}

u64 python_key() { return python_on() ? sums_key() * 3 : 0; }

}  // namespace tally::engine::instrument
