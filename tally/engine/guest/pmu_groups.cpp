#include "tally/engine/guest/pmu_groups.hpp"

#include <linux/perf_event.h>

#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_overflows.hpp"
#include "tally/engine/guest/pmu_pages.hpp"
#include "tally/engine/guest/pmu_rings.hpp"

namespace tally::engine::guest {
namespace {

/// The others of a leader's group are groups of their own after it, and count if they are on. What those of another
/// thread of this memory have executed until now is not known: the thread runs.
void dissolve_group(Thread* t, u32 leader) {
  const bool was_on = pmu_event(leader).is_on;
  PmuValues values;
  settle_group(leader);
  for (u32 at = pmu_event(leader).next_member, next = 0; at != 0; at = next) {
    PmuOpenEvent& e = pmu_event(at);
    next = e.next_member;
    if ((needs_others_held(t, at) || !update_event(at, values, Update::to_change)) && e.is_on && !was_on) e.is_lost = 1;
    e.next_member = 0;
    e.leader = e.last_member = at;
    group_has_changed(at);
  }
  pmu_event(leader).next_member = 0;
  pmu_event(leader).last_member = leader;
}

}  // namespace

void switch_kernel_events(u32 leader) {
  const bool is_kernels = pmu_event(leader).is_kernels, is_on = pmu_event(leader).is_on;
  for_group(leader, [&](PmuOpenEvent& e) {
    const bool runs = e.is_on && (is_kernels || is_on);
    if (!e.is_kernels || runs == (e.runs != 0)) return;
    e.runs = runs;
    if (const s64 number = number_of(e); number >= 0)
      kernel(SYS_ioctl, static_cast<u64>(number), runs ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  });
}

bool has_own_events(u32 leader) {
  bool has = false;
  for_group(leader, [&](const PmuOpenEvent& e) { has = has || !e.is_kernels; });
  return has;
}

/// The counts of a group that the engine has no event of are the kernel's.
bool needs_others_held_for_group(const Thread* t, u32 leader) {
  if (!has_own_events(leader)) return false;
  bool needs = false;
  for_group(leader, [&](const PmuOpenEvent& e) {
    needs = needs || needs_others_held(t, static_cast<u32>(&e - pmu_table().event));
  });
  return needs;
}

bool update_group(u32 leader, Update why) {
  bool needs_times = why == Update::to_change;
  constexpr u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  for_group(leader, [&](const PmuOpenEvent& e) { needs_times = needs_times || (e.read_format & times) != 0; });
  PmuValues values(needs_times);
  bool is_known = true;
  for_group(leader, [&](const PmuOpenEvent& e) {
    is_known = update_event(static_cast<u32>(&e - pmu_table().event), values, why) && is_known;
  });
  return is_known;
}

void update_group_for_change(u32 leader) {
  settle_group(leader);
  if (!update_group(leader, Update::to_change)) for_group(leader, [](PmuOpenEvent& e) { e.is_lost = !e.is_kernels; });
}

void group_has_changed(u32 leader) {
  switch_kernel_events(leader);
  show_group(leader);
  arm_group(leader);
}

void switch_event(PmuOpenEvent& e, bool is_on) {
  e.is_on = is_on;
  for_countings(e, [&](u32, PmuCounting& c) { c.is_on = is_on; });
}

void remove_left(Thread* t) {
  channel::PmuTable& table = pmu_table();
  constexpr u32 least = 1024;
  const u32 limit = table.search_from > least ? table.search_from : least;
  const bool is_full =
      (table.free_event == 0 && table.events >= limit) || (table.free_counting == 0 && table.countings >= limit);
  if (!is_full) return;
  PmuValues values(false);
  u32 process = 0, used = 0;
  bool has_process_ended = false;
  const auto is_left_by = [&](u32 thread) {
    const u32 of_thread = records().thread(thread).process;
    if (of_thread != process) has_process_ended = has_ended(thread);
    process = of_thread;
    used += !has_process_ended;
    return has_process_ended;
  };
  for (u32 at = 1; at <= table.countings; at++) {
    const PmuCounting& c = table.counting[at];
    if (c.event == 0 || c.thread == 0 || !is_left_by(c.thread)) continue;
    if (!update_counting(at, values)) pmu_event(c.event).is_lost = 1;
    end_counting_of(at);
  }
  // One that several processes have had may still be held by one of them.
  for (u32 at = 1; at <= table.events; at++)
    if (const PmuOpenEvent& e = pmu_event(at); e.holders == 1 && !e.is_shared && is_left_by(e.opener)) let_go(t, at);
  table.search_from = 2 * used;
}

void let_go(Thread* t, u32 event) {
  PmuOpenEvent& e = pmu_event(event);
  end_pages(event);
  if (--e.holders != 0) return;
  if (e.leader == event)
    dissolve_group(t, event);
  else
    leave_group(event);
  if (e.is_kernels) pmu_table().kernel_events--;
  end_ring(e);
  remove_pmu_event(event);
}

}  // namespace tally::engine::guest
