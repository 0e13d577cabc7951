#include "tally/engine/guest/pmu_processes.hpp"

#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_groups.hpp"
#include "tally/engine/guest/pmu_overflows.hpp"
#include "tally/engine/guest/pmu_pages.hpp"
#include "tally/engine/guest/pmu_rings.hpp"
#include "tally/engine/guest/pmu_side_records.hpp"
#include "tally/engine/guest/pmu_wakeups.hpp"

namespace tally::engine::guest {
namespace {

/// Values of PmuCounting::expects.
s32 of_child(u32 process) { return -static_cast<s32>(process); }
s32 of_thread(const Thread* t) { return -static_cast<s32>(channel::process_limit + t->index); }
s32 of_own_program() { return static_cast<s32>(kernel(SYS_getpid)); }

template <class F>
void for_expecting(s32 expected, F f) {
  for (u32 at = 1; at <= pmu_table().countings; at++)
    if (PmuCounting& c = pmu_table().counting[at]; c.event != 0 && c.expects == expected) f(at, c);
}

/// Adds what events will count of a new thread, or of that of a new process.
void inherit_events(const Thread* parent, bool is_thread, s32 expected) {
  for_countings_of(parent->index, [&](u32, const PmuCounting& of_parent) {
    const PmuOpenEvent& e = pmu_event(of_parent.event);
    const u32 at = e.inherits && (is_thread || !e.only_threads) ? add_counting(of_parent.event) : 0;
    if (at == 0) return;
    PmuCounting& c = pmu_table().counting[at];
    c.expects = expected;
    c.is_inherited = 1;
    c.is_on = of_parent.is_on;
    c.begins_at_exec = of_parent.begins_at_exec;
    set_period(c, of_parent.period);
  });
}

void begin_expected(Thread* t, s32 expected) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  for_expecting(expected, [&](u32 at, const PmuCounting&) { move_counting(at, t->index, values); });
  roam(t);
  record_begin(t);
}

/// Calls `f` with the index of each thing that is counted of a process.
template <class F>
void for_process(u32 process, F f) {
  for (u32 at = 1; at <= pmu_table().countings; at++)
    if (const u32 of = pmu_table().counting[at].thread; of != 0 && records().thread(of).process == process) f(at);
}

/// An event is on because its thread executes a program; so are the kernel's events that it leads.
void begin_at_exec(u32 event) {
  pmu_event(event).is_on = 1;
  if (pmu_event(event).leader != event) return;
  for_group(event, [](PmuOpenEvent& e) { e.runs = e.is_on; });
}

/// Makes the new program count down what its events sample.
void begin_overflows_of_program(Thread* t) {
  SampledRows rows;
  {
    PmuGuard guard;
    for_expecting(of_own_program(), [&](u32, const PmuCounting& c) { rows.add(pmu_event(c.event)); });
  }
  begin_overflows(t, rows);
}

void end_counting(u32 counting) {
  PmuOpenEvent& e = pmu_event(pmu_table().counting[counting].event);
  end_counting_of(counting);
  if (e.countings == 0) wake(e, Wakeup::end);
}

/// The program is counted by the events of what its process executed before.
void begin_program(Thread* t) {
  PmuGuard guard;
  for (u64 n = 0; !may_have_events && n <= pmu_table().highest_number; n++) may_have_events = find_event(n) != 0;
  PmuValues values;
  for_expecting(of_own_program(), [&](u32 at, PmuCounting& c) {
    PmuOpenEvent& e = pmu_event(c.event);
    if (e.of == c.thread) e.of = t->index;
    move_counting(at, t->index, values);
    c.is_fresh = 0;
    if (c.begins_at_exec) {
      c.is_on = 1;
      if (!c.is_inherited) begin_at_exec(c.event);
      c.begins_at_exec = 0;
    }
    if (e.ends_at_exec) end_counting(at);
  });
  roam(t);
}

/// The last update for this thread.
void update_for_end(u32 counting, PmuValues& values) {
  if (!update_counting(counting, values)) pmu_event(pmu_table().counting[counting].event).is_lost = 1;
}

}  // namespace

void pmu_events_before_thread(const Thread* t, const Thread* child) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  inherit_events(t, child->process == t->process, of_thread(child));
}

void pmu_events_of_failed_thread(const Thread* child) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_expecting(of_thread(child), [](u32 at, const PmuCounting&) { end_counting_of(at); });
}

void pmu_events_of_thread(Thread* t) { begin_expected(t, of_thread(t)); }

void pmu_events_before_fork(const Thread* t, u32 process) {
  if (!settings().pmu.any()) return;
  lock_pmu_table();
  inherit_events(t, false, of_child(process));
  for_held([](u32 event) {
    pmu_event(event).holders++;
    pmu_event(event).is_shared = 1;
  });
}

void pmu_events_after_fork(Thread* t, u32 process, bool has_failed) {
  if (!settings().pmu.any()) return;
  if (has_failed) {
    for_expecting(of_child(process), [](u32 at, const PmuCounting&) { end_counting_of(at); });
    for_held([&](u32 event) { let_go(t, event); });
  }
  unlock_pmu_table();
}

void pmu_events_of_child(Thread* t, u32 process) {
  if (has_mapped_rings()) {
    PmuGuard guard;
    forget_pages();
  }
  begin_expected(t, of_child(process));
}

void pmu_events_of_thread_end(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  for_countings_of(t->index, [&](u32 at, const PmuCounting&) { update_for_end(at, values); });
  record_end(t->index);
  for_countings_of(t->index, [](u32 at, const PmuCounting& c) {
    const u32 event = c.event;
    end_counting(at);
    show(event);
  });
}

void pmu_events_of_process_end(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  for_process(t->process, [&](u32 at) { update_for_end(at, values); });
  {
    Guard threads_guard(threads_lock);
    for (const Thread* o = threads(); o != nullptr; o = o->next)
      if (o->process == t->process) record_end(o->index);
  }
  for_process(t->process, end_counting);
  for_held([&](u32 event) { let_go(t, event); });
  end_rings();
}

void pmu_events_before_exec(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  settle_overflows(t);
  for_countings_of(t->index, [&](u32 at, PmuCounting& c) {
    update_for_end(at, values);
    c.expects = of_own_program();
  });
  if (t->vfork_child != 0) return;
  for_held([&](u32 event) {
    if (pmu_event(event).holders == 1) return;
    pmu_event(event).holders--;
    held[event] |= is_let_go;
  });
}

void pmu_events_before_native_exec(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_countings_of(t->index, [](u32, const PmuCounting& c) { pmu_event(c.event).is_lost++; });
}

void pmu_events_after_failed_exec(Thread* t, bool was_native) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_countings_of(t->index, [&](u32, PmuCounting& c) {
    c.expects = 0;
    pmu_event(c.event).is_lost -= was_native;
  });
  if (t->vfork_child != 0) return;
  for_held([&](u32 event) {
    if (!(held[event] & is_let_go)) return;
    held[event] &= ~is_let_go;
    pmu_event(event).holders++;
  });
}

void pmu_events_before_move(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  PmuValues values;
  settle_overflows(t);
  for_countings_of(t->index, [&](u32, const PmuCounting& c) {
    if (pmu_event(c.event).cpu != -1) update_event(c.event, values, Update::to_change);
  });
}

void pmu_events_after_move(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  follow_residence(t->index);
  roam(t);
  for_countings_of(t->index, [](u32, const PmuCounting& c) { show(c.event); });
}

void pmu_events_of_program(Thread* t) {
  if (!pmu_is_used()) return;
  begin_overflows_of_program(t);
  begin_program(t);
  record_name(t, true);
  record_mappings(t, 0, ~u64{0}, true);
}

void pmu_events_of_native(Thread* t) {
  if (!pmu_is_used()) return;
  PmuGuard guard;
  for_process(t->process, [](u32 at) { pmu_event(pmu_table().counting[at].event).is_lost = 1; });
}

}  // namespace tally::engine::guest
