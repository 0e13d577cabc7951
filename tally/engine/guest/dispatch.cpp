// Lookup of the code cache address for a program address; every entry into the engine uses it.
#include "tally/engine/guest/flush.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/leaving.hpp"
#include "tally/engine/guest/pmu_overflows.hpp"
#include "tally/engine/instrument/marks/illegal_marks.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/linking.hpp"
#include "tally/engine/translate/source_probes.hpp"

namespace tally::engine::guest {

namespace {

Outcome find_or_translate(Thread* t) {
  if (is_key_of_steps(t->pc)) return Outcome::unreadable;  // not an address
  Guard guard(cache_lock);
  if (cache_is_damaged()) return Outcome::no_room;
  begin_reading(t);
  Outcome outcome = Outcome::translated;
  const bool steps = t->in_steps != 0;
  Trace* trace = find_trace(key_of(t->pc, steps));
  const bool is_new = trace == nullptr;
  if (is_new) outcome = make_trace(t->pc, steps, t->link == by_jump, trace);
  end_reading(t);
  if (cache_is_damaged()) return Outcome::no_room;  // damaged by a process that died holding another lock
  if (outcome == Outcome::translated) settle(t, *trace, is_new);
  return outcome;
}

/// Whether the upper bits of a 48-bit address are equal.
bool is_canonical(u64 address) {
  const u64 upper = address >> 47;
  return upper == 0 || upper == 0x1ffff;
}

/// Finds or makes the trace at the thread's pc, with which the thread continues.
Outcome prepare_trace(Thread* t) {
  if (t->link >= first_link) t->pc = link_target(t->link);
  if (t->link == by_jump && t->followed != 0) probes->jumped(t);
  countdowns_settle(t);
  Outcome outcome = Outcome::no_room;
  // Other threads may fill the cache again before this thread's turn. A flush rarely fails completely.
  for (u32 tries = 0; outcome == Outcome::no_room && tries < 1000; tries++) {
    if (leaving()) leave(t, channel::partial_none);
    if (is_asked_to_leave()) leave_as_asked(t);
    if (is_asked_out(t)) {
      t->link = no_link;
      step_aside(t);
    }
    if (countdowns_are_changed(t)) {
      t->link = no_link;
      follow_changed_countdowns(t);
    }
    if (code_may_be_absent()) {
      await_code(t);
      if (t->pad != 0) return Outcome::translated;  // pending work first: it does not need the trace
    }
    outcome = find_or_translate(t);
    if (outcome != Outcome::no_room) break;
    t->link = no_link;
    if (!flush(t)) break;
  }
  return outcome;
}

}  // namespace

extern "C" void dispatch(Thread* t) {
  t->resumes_past_gate = 0;
  Outcome outcome = prepare_trace(t);
  while (outcome == Outcome::step && is_illegal_mark(t->pc)) {
    t->past_check = 0;
    t->link = no_link;
    if (t->pad != 0) return;  // a pending signal comes first: its handler returns to the mark
    pass_illegal_mark(t);
    if (t->traces_itself != 0) {
      t->pad |= pad_step;
      return;
    }
    outcome = prepare_trace(t);
  }
  switch (outcome) {
    case Outcome::translated: return;
    // At its own address the instruction does, or fails to do, what it does natively.
    case Outcome::unreadable:
      // The processor faults at the branch, whose address is not known here.
      if (!is_canonical(t->pc)) mark_partial(t, channel::partial_far_branch);
      [[fallthrough]];
    case Outcome::step:
      t->past_check = 0;
      t->pad |= pad_step;
      return;
    case Outcome::leave: leave(t, channel::partial_gs_base);
    case Outcome::no_room:
    case Outcome::no_space:
      leave(t, arenas_are_forbidden() ? channel::partial_code_forbidden : channel::partial_code_space);
  }
}

}  // namespace tally::engine::guest
