/// The pages of this process that show events (perf_event_mmap_page).
#pragma once
#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// Writes the state of an event to its pages, with the number of the counter of a thread of this process
/// that it counts: the caller, if it is one of them.
void show(u32 event);
void show_group(u32 leader);
/// The event is about to be removed: its pages show the last state.
void end_pages(u32 event);
/// The child of a fork has no pages.
void forget_pages();
/// Makes the page of an event, with a ring of `ring_pages` after it, and shows the event there. Returns false without
/// memory.
bool make_page(u32 event, u32 ring_pages);

}  // namespace tally::engine::guest
