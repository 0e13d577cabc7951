/// The memory of mapped events, in the channel: a page that shows the event (perf_event_mmap_page), and a ring of
/// records. Every process that is counted by the event writes to it.
///
/// The caller holds the lock of the table.
#pragma once
#include <linux/perf_event.h>

#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// Gives an event a ring of this many pages after the first one, which is a power of 2, or 0. Returns false without
/// memory.
bool make_ring(PmuOpenEvent& e, u32 pages);
/// Returns the first page of the event's ring as it is mapped in this process; null without memory, or without a ring.
perf_event_mmap_page* ring_of(const PmuOpenEvent& e);
/// The child of a fork has none of them mapped.
void forget_rings();

/// The program has mapped the ring of an event at an address, which holds the event like a descriptor; or unmapped
/// memory. What no process has mapped and no event writes to is discarded. Returns an event that was held by this, and
/// 0 after the last one.
void ring_is_mapped(const PmuOpenEvent& e, u64 at);
u32 ring_is_unmapped(u64 at, u64 bytes);
/// Whether this process has mapped one.
bool has_mapped_rings();
/// Whether the program has mapped a ring there.
bool has_ring_in(u64 at, u64 bytes);
void ring_is_moved(u64 from, u64 to);
/// Whether the program has the event's pages mapped with another number of them than `pages`.
bool is_mapped_with_others(const PmuOpenEvent& e, u32 pages);
/// The process ends, after it has let its events go.
void end_rings();
/// The event is about to be removed.
void end_ring(PmuOpenEvent& e);

/// The event whose ring gets the records of this one, or null if there is none.
PmuOpenEvent* output_of(PmuOpenEvent& e);
/// Makes an event write to the ring of another one, or to its own if that is 0. Returns false if the kernel would
/// refuse.
bool redirect(u32 event, u32 to);
/// Writes a record into the ring of an event, after one that says how many were lost; null: it is lost. Returns whether
/// readers are to be woken.
bool write_record(PmuOpenEvent& e, const perf_event_header* record);

}  // namespace tally::engine::guest
