/// Groups of events: their counts are brought up to date together, and a leader switches its group.
#pragma once
#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_events.hpp"
#include "tally/engine/guest/pmu_table.hpp"
#include "tally/engine/stop_the_world.hpp"

namespace tally::engine::guest {

/// Calls `f` while the table is locked, and with the other threads held if it says so. Returns its result, or EBUSY.
template <class F>
s64 with_table(Thread* t, bool holds, F f) {
  if (!holds) {
    PmuGuard guard;
    return f();
  }
  take_turn(t);
  s64 r = -EBUSY;
  if (!leaving() && hold_others(t)) {
    PmuGuard guard;
    r = f();
  }
  give_turn(t);
  return r;
}

/// Whether the engine counts events of this group.
bool has_own_events(u32 leader);
/// Whether other threads must be held while the group is brought up to date.
bool needs_others_held_for_group(const Thread* t, u32 leader);
/// Returns false if the count of one of them is not known.
bool update_group(u32 leader, Update why);
/// Before a group is switched or reset, and after that.
void update_group_for_change(u32 leader);
void group_has_changed(u32 leader);
void switch_event(PmuOpenEvent& e, bool is_on);
/// Switches the kernel's events of a group on or off. The kernel does not know of a leader that is not its own.
void switch_kernel_events(u32 leader);

/// Removes what processes left in the table that were killed, if the table has grown much since the last time.
void remove_left(Thread* t);
/// A process has closed its last descriptor of an event, or ends.
void let_go(Thread* t, u32 event);

/// Calls `f` with the event of a descriptor, after it is clear that its group can be updated.
template <class F>
s64 with_event(Thread* t, u64 number, F f) {
  if (!may_have_events || !pmu_is_used()) return not_of_pmu;
  {
    PmuGuard guard;
    const u32 event = find_event(number);
    if (event == 0) return not_of_pmu;
    if (!needs_others_held_for_group(t, pmu_event(event).leader)) return f(event);
  }
  return with_table(t, true, [&]() -> s64 {
    const u32 event = find_event(number);
    return event != 0 ? f(event) : not_of_pmu;
  });
}

}  // namespace tally::engine::guest
