#include "tally/engine/guest/pmu_pages.hpp"

#include "tally/engine/guest/pmu_counters.hpp"
#include "tally/engine/guest/pmu_rings.hpp"

namespace tally::engine::guest {
namespace {

/// The events that have pages in this process.
constexpr u32 page_limit = 1 << 16;
Growing<u32> shown_events;

}  // namespace

void show(u32 event) {
  for (u32 i = 0; i < shown_events.size; i++) {
    if (shown_events[i] != event) continue;
    perf_event_mmap_page* const at = ring_of(pmu_event(event));
    if (at == nullptr) continue;
    perf_event_mmap_page& page = *at;
    s64 offset = 0;
    const Thread* counted = nullptr;  // of this process, whichever thread maps the page
    for_countings(pmu_event(event), [&](u32, const PmuCounting& c) {
      const Thread* const t = thread_here(c.thread);
      if (t != nullptr && counted != current()) counted = t;
    });
    const bool is_counting = counted != nullptr && counter_offset(event, counted->index, offset);
    __atomic_add_fetch(&page.lock, 1, __ATOMIC_SEQ_CST);
    page.index = is_counting ? number_of_counter(counted, pmu_event(event).row) + 1 : 0;
    page.offset = is_counting ? offset : count_of(pmu_event(event));
    page.time_enabled = page.time_running = enabled_ns_of(pmu_event(event));
    page.cap_user_rdpmc = has_counter(pmu_event(event));
    __atomic_add_fetch(&page.lock, 1, __ATOMIC_SEQ_CST);
  }
}

void show_group(u32 leader) {
  if (shown_events.size == 0) return;
  for_group(leader, [](const PmuOpenEvent& e) { show(static_cast<u32>(&e - pmu_table().event)); });
}

void end_pages(u32 event) {
  for (u32 i = 0; i < shown_events.size; i++) {
    if (shown_events[i] != event) continue;
    if (perf_event_mmap_page* const page = ring_of(pmu_event(event)); page != nullptr) {
      page->index = 0;
      page->offset = count_of(pmu_event(event));
    }
    shown_events[i--] = shown_events[--shown_events.size];
  }
}

void forget_pages() {
  shown_events.size = 0;
  forget_rings();
}

bool make_page(u32 event, u32 ring_pages) {
  if (shown_events.data == nullptr && !shown_events.try_init_in_steps(page_limit)) return false;
  if (shown_events.full() || !make_ring(pmu_event(event), ring_pages)) return false;
  perf_event_mmap_page& page = *ring_of(pmu_event(event));
  page.cap_bit0_is_deprecated = 1;
  page.size = static_cast<u32>(reinterpret_cast<u64>(&page.__reserved) - reinterpret_cast<u64>(&page));
  page.pmc_width = counter_bits;
  bool is_shown = false;
  for (u32 i = 0; i < shown_events.size; i++) is_shown = is_shown || shown_events[i] == event;
  if (!is_shown) shown_events.add(event);
  show(event);
  return true;
}

}  // namespace tally::engine::guest
