/// The descriptors of events that this process has, and the events that they refer to.
#pragma once
#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// How many descriptors of each event this process has; null: it has opened none.
extern u32* held;
extern u32 held_events;
/// Bit of `held`: the event does not count this process as a holder, because it is about to execute another program.
inline constexpr u32 is_let_go = 1u << 31;

/// Whether this process may have a descriptor of an event.
extern bool may_have_events;

/// Prepares the process to have events. Returns false without memory.
bool can_hold();
/// A number that no other file has, or will have; 0: it is neither a socket nor an event of the kernel.
u64 identity_of(u64 number);
/// Returns the event that a descriptor refers to, or 0.
u32 find_event(u64 number);
void forget_number(u64 number);
/// Returns a descriptor of a kernel's event, or -1.
s64 number_of(PmuOpenEvent& e);

/// Removes a descriptor or mapping of an event. Returns whether it was the last one of this process.
inline bool is_last_hold(u32 event) {
  if (held[event] == 0 || --held[event] != 0) return false;
  held_events--;
  return true;
}
/// Whether this process has a descriptor or mapping of the event.
inline bool is_held(const PmuOpenEvent& e) { return held != nullptr && held[&e - pmu_table().event] != 0; }

/// Calls `f` with each such event.
template <class F>
void for_held(F f) {
  const u32 n = held_events;
  for (u32 event = 1, found = 0; found < n && event <= pmu_table().events; event++) {
    if (held[event] == 0) continue;
    found++;
    f(event);
  }
}

}  // namespace tally::engine::guest
