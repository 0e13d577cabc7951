#include "tally/engine/instrument/mark_probes.hpp"

#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/marked_addresses.hpp"
#include "tally/engine/instrument/marks/reached_marks.hpp"
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/instrument/python_frames.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::instrument {
namespace {

using channel::MarkCounts;

/// An active call of a function: the address of its return address, and the return address.
struct ActiveCall {
  u64 sp, back;
};

/// An active call of a function that switches collection.
struct Toggle {
  u64 function;
  ActiveCall call;
};

/// The mark state of a thread.
struct ThreadMarks {
  u64 watched_from;  // the stack pointer at a call of a function that may leave others; 0: jumps are not watched
  u64 toggle_count;
  Toggle toggles[sizeof channel::MarkPoints::point / sizeof(channel::MarkPoint)];  // of each function at most one
};
static_assert(marks_at + sizeof(ThreadMarks) <= counters_at);

ThreadMarks& own(const Thread* t) { return *reinterpret_cast<ThreadMarks*>(reinterpret_cast<u64>(t) + marks_at); }
MarkCounts& counts(Thread* t, u32 mark) {
  return reinterpret_cast<MarkCounts*>(reinterpret_cast<u64>(t) + mark_counts_at)[mark];
}

/// The event counts at one moment; reads them at most once.
class EventSnapshot {
 public:
  explicit EventSnapshot(Thread* t, bool waits = true) : thread_(t), waits_(waits) {}
  const EventSums& values() {
    if (!is_read_) read_events(thread_, values_, waits_);
    is_read_ = true;
    return values_;
  }

 private:
  Thread* thread_;
  bool waits_, is_read_ = false;
  EventSums values_;
};

// --- entries --------------------------------------------------------------------------------------------------------

void begin(MarkCounts& c, const EventSums& v) {
  for (u32 e = 0; e < settings().marks.events; e++) c.event[e].start = v.of[e];
  c.open = 1;
}

void end(MarkCounts& c, const EventSums& v) {
  for (u32 e = 0; e < settings().marks.events; e++) {
    channel::MarkEvent& event = c.event[e];
    const s64 more = v.of[e] - event.start;
    event.total += more;
    if (c.entries == 0 || more < event.least) event.least = more;
    if (c.entries == 0 || more > event.most) event.most = more;
  }
  c.entries++;
  c.open = 0;
}

/// Closes the open entry of a function, after it was counted or dropped.
void close(Thread* t, MarkCounts& c) {
  c.open = c.sp = c.back = 0;
  t->in_functions--;
}

bool on_signal_stack(const Thread* t, u64 sp) { return sp - t->alt.base <= t->alt.bytes && t->alt.bytes != 0; }

/// Calls f for the marks of functions that are open.
template <class F>
void each_open(Thread* t, F&& f) {
  for (u32 i = 0; t->in_functions != 0 && i < settings().marks.count; i++)
    if (MarkCounts& c = counts(t, i); c.open != 0 && c.sp != 0) f(c);
}

/// The most that `ret n` removes from the stack.
constexpr u64 most_returned = 8 + 0xffff;

/// Whether the thread has just returned from the call.
bool has_returned(const Thread* t, ActiveCall call) {
  const u64 sp = t->gpr[rsp];
  return call.back == t->pc && sp > call.sp && sp - call.sp <= most_returned;
}

/// Whether the thread has left the call by a jump.
bool was_left(const Thread* t, ActiveCall call) {
  const u64 sp = t->gpr[rsp];
  return sp > call.sp && on_signal_stack(t, sp) == on_signal_stack(t, call.sp);
}

/// Whether the call is active when its function is entered again. False if it was left unnoticed.
bool is_active(Thread* t, ActiveCall call) {
  u64 back = 0;
  const bool intact = safe_copy(&back, reinterpret_cast<const void*>(call.sp), 8) == 0 && back == call.back;
  return intact && !was_left(t, call);
}

/// Returns the call whose first instruction is next; its return address is marked. An `sp` of 0: it cannot be.
ActiveCall begin_call(Thread* t) {
  ActiveCall call{t->gpr[rsp], 0};
  const bool is_marked =
      safe_copy(&call.back, reinterpret_cast<const void*>(call.sp), 8) == 0 && mark_return(call.back);
  return is_marked ? call : ActiveCall{};
}

/// Ends the calls that switched collection for which `is_over` is true, from the last one on.
template <class F>
void end_toggles(Thread* t, F&& is_over) {
  ThreadMarks& m = own(t);
  for (u64 i = m.toggle_count; i-- > 0;) {
    if (!is_over(m.toggles[i])) continue;
    for (u64 k = i + 1; k < m.toggle_count; k++) m.toggles[k - 1] = m.toggles[k];
    m.toggle_count--;
    t->in_functions--;
    toggle_collection(t);
  }
}

void enter_toggle(Thread* t) {
  ThreadMarks& m = own(t);
  const u64 function = t->pc;
  end_toggles(t, [&](const Toggle& toggle) { return toggle.function == function && !is_active(t, toggle.call); });
  for (u64 i = 0; i < m.toggle_count; i++)
    if (m.toggles[i].function == function) return;
  const ActiveCall call = begin_call(t);
  if (call.sp == 0) return;
  m.toggles[m.toggle_count++] = {function, call};
  t->in_functions++;
  toggle_collection(t);
}

void end_returned(Thread* t, EventSnapshot& now) {
  end_toggles(t, [&](const Toggle& toggle) { return has_returned(t, toggle.call); });
  each_open(t, [&](MarkCounts& c) {
    if (!has_returned(t, {c.sp, c.back})) return;
    end(c, now.values());
    close(t, c);
  });
}

/// Handles an entry while another one is open. True if it is recursive; false if the function was left unnoticed.
bool is_still_open(Thread* t, MarkCounts& c) {
  if (is_active(t, {c.sp, c.back})) {
    c.recursive += t->gpr[rsp] != c.sp;  // a jump to the function's own beginning is not a call
    return true;
  }
  c.dropped++;
  close(t, c);
  return false;
}

void enter_function(Thread* t, MarkCounts& c, EventSnapshot& now) {
  if (c.open != 0 && is_still_open(t, c)) return;
  const ActiveCall call = begin_call(t);
  if (call.sp == 0) {
    c.dropped++;
    return;
  }
  begin(c, now.values());
  c.sp = call.sp;
  c.back = call.back;
  t->in_functions++;
}

void pass(Thread* t, u32 role, MarkCounts& c, EventSnapshot& now) {
  switch (role) {
    case channel::mark_to:
      if (c.open != 0) end(c, now.values());
      break;
    case channel::mark_from:
      c.dropped += c.open;
      begin(c, now.values());
      break;
    case channel::mark_function: enter_function(t, c, now); break;
    case channel::mark_toggles: enter_toggle(t); break;
    case channel::mark_stops: windows_stop(t); break;
    case channel::mark_starts: windows_start(t); break;
    default: break;
  }
}

/// Counts an instruction that has retired without its copy running.
void count_emulated(Thread* t, bool is_far) {
  channel::Totals delta;
  delta.field[channel::instructions] = 1;
  delta.field[channel::far] = is_far;
  correct(t, t->pc, delta);
}

/// The same for windows.
void pass_window_trap(Thread* t, u32 length) {
  if (are_windows_open(t)) {
    windows_stop(t);
    count_emulated(t, true);
  } else {
    count_emulated(t, true);
    windows_start(t);
  }
  t->pc += length;
}

/// Counts what is between two traps, without the traps.
void pass_trap(Thread* t, u32 length) {
  if (windows_on()) return pass_window_trap(t, length);
  MarkCounts& c = counts(t, settings().marks.count - 1);
  EventSums now;
  if (c.open != 0) {
    read_events(t, now);
    end(c, now);
    count_emulated(t, true);
  } else {
    count_emulated(t, true);
    read_events(t, now);
    begin(c, now);
  }
  t->pc += length;
}

/// Emulates the instruction rdpmc: it reads what was counted before it. False if the counter does not exist.
bool read_counter(Thread* t, u32 length) {
  const channel::Marks& marks = settings().marks;
  constexpr u32 fixed = 0x40000000;
  const u32 selector = static_cast<u32>(t->gpr[rcx]);
  u32 row = 0;
  if (selector < 4) row = marks.selector[selector];
  if (selector - fixed < 3) row = marks.fixed[selector - fixed];
  if (row == 0) {
    // The instruction faults, like on a processor. The command reports why.
    channel::Process& process = records().process(t->process);
    if (process.no_counter_read == 0) process.no_counter = selector;
    process.no_counter_read = 1;
    return false;
  }
  EventSums now;
  read_events(t, now);
  constexpr u64 width_mask = (u64{1} << 48) - 1;
  const u64 value = static_cast<u64>(now.of[row - 1]) & width_mask;
  t->gpr[rax] = static_cast<u32>(value);
  t->gpr[rdx] = value >> 32;
  count_emulated(t, false);
  t->pc += length;
  return true;
}

/// Emulates the instruction at the thread's pc if the engine must do so. False if the processor executes it.
bool emulate_here(Thread* t) {
  const Slot& s = slot_of(t->pc);
  if (s.done == 0) return false;
  if (s.reads) return read_counter(t, s.done);
  pass_trap(t, s.done);
  return true;
}

void watch(Thread* t) {
  if (t->in_functions == 0 || own(t).watched_from != 0) return;
  own(t).watched_from = t->gpr[rsp];
  t->followed = 1;
  forget_jumps(t);  // none may bypass the engine
}

void pass_all(Thread* t) {
  EventSnapshot now(t);
  end_returned(t, now);
  const channel::MarkPoint* here[sizeof channel::MarkPoints::point / sizeof(channel::MarkPoint)];
  u32 n = 0;
  for (u32 i = 0; i < given_marks().count; i++)
    if (given_marks().point[i].address == t->pc) here[n++] = &given_marks().point[i];
  for (u32 i = 0; i < n; i++)
    if (is_python(*here[i])) python_reached(t, *here[i]);
  // Entries that end at an address end before others begin there.
  static const u32 roles[] = {channel::mark_stops, channel::mark_to,       channel::mark_starts,
                              channel::mark_from,  channel::mark_function, channel::mark_toggles};
  for (const u32 role : roles)
    for (u32 i = 0; i < n; i++)
      if (here[i]->role == role) pass(t, role, counts(t, here[i]->mark), now);
  for (u32 i = 0; i < n; i++) {
    if (here[i]->role == channel::mark_leaves) watch(t);
    if (here[i]->role == channel::mark_entered) calls_entered(t, t->pc);
  }
}

}  // namespace

bool marks_attach(Thread* t, bool goes_on) {
  if (!marks_on()) return true;
  if (!map_channel(reinterpret_cast<u64>(&counts(t, 0)), channel::mark_counts_bytes,
                   channel::mark_counts_offset(t->index)))
    return false;
  own(t).watched_from = t->followed = 0;
  if (!goes_on) own(t).toggle_count = 0;
  t->in_functions = own(t).toggle_count;
  t->past_gate = 0;
  return true;
}

void marks_end(Thread* t) {
  if (!marks_on()) return;
  EventSnapshot now(t, false);  // threads_lock is held
  for (u32 i = 0; i < settings().marks.count; i++) {
    MarkCounts& c = counts(t, i);
    if (c.open == 0) continue;
    c.cut++;
    end(c, now.values());
    if (c.sp != 0) close(t, c);
  }
}

void marks_landed(Thread* t) {
  ThreadMarks& m = own(t);
  const u64 sp = t->gpr[rsp];
  if (on_signal_stack(t, sp) != on_signal_stack(t, m.watched_from)) return;
  EventSnapshot now(t);
  end_toggles(t, [&](const Toggle& toggle) { return was_left(t, toggle.call); });
  each_open(t, [&](MarkCounts& c) {
    if (!was_left(t, {c.sp, c.back})) return;
    end(c, now.values());
    close(t, c);
  });
  if (sp > m.watched_from || t->in_functions == 0) m.watched_from = t->followed = 0;
}

void pass_marks(Thread* t) {
  if (marks_on()) pass_all(t);
}

extern "C" void marked(Thread* t) {
  // A pending signal comes first: its handler returns to the gate.
  if (t->pad == 0) {
    pass_all(t);
    t->past_gate = handle_program_mark(t) && !emulate_here(t);
  }
  dispatch(t);
}

}  // namespace tally::engine::instrument
