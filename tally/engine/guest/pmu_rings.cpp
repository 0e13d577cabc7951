#include "tally/engine/guest/pmu_rings.hpp"

#include <fcntl.h>
#include <linux/falloc.h>

#include "tally/engine/guest/pmu_descriptors.hpp"
#include "tally/engine/guest/pmu_groups.hpp"
#include "tally/engine/guest/pmu_records.hpp"
#include "tally/engine/inherited.hpp"

namespace tally::engine::guest {
namespace {

/// A ring, as it is mapped in this process.
struct MappedRing {
  u32 page, pages;  // PmuSampling::ring, ring_pages
  u64 at;           // for the engine; 0: not yet
  u64 of_program;   // where the program has mapped it last; 0: it has not
  bool has_ended;   // no event writes to it
  u32 keeps;        // the event, which counts while this is mapped; 0: none
};
constexpr u32 ring_limit = 1 << 16;
Growing<MappedRing> mapped_rings;

u64 bytes_of(const MappedRing& r) { return (u64{r.pages} + 1) * page_bytes; }

void forget(MappedRing& r) {
  if (r.at != 0) unreserve(r.at, bytes_of(r));
  if (r.has_ended) {
    pmu_table().rings--;
    kernel(SYS_fallocate, inherited(channel::inherited_channel), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
           channel::pmu_ring_offset(r.page), bytes_of(r));
  }
  r = mapped_rings[--mapped_rings.size];
}

/// Returns null without memory.
MappedRing* mapped(const PmuOpenEvent& e) {
  if (mapped_rings.data == nullptr && !mapped_rings.try_init_in_steps(ring_limit)) return nullptr;
  for (u32 i = 0; i < mapped_rings.size; i++) {
    if (mapped_rings[i].page != e.sampling.ring) continue;
    if (mapped_rings[i].pages == e.sampling.ring_pages) return &mapped_rings[i];
    forget(mapped_rings[i]);  // of a ring that another process has ended
    break;
  }
  if (mapped_rings.full()) return nullptr;
  return &mapped_rings[mapped_rings.add({e.sampling.ring, e.sampling.ring_pages, 0, 0, false, 0})];
}

/// Not page->data_size: the program can write that.
u64 data_bytes(const PmuOpenEvent& to) { return u64{to.sampling.ring_pages} * page_bytes; }

/// Copies to a position in the data of a ring, which wraps around.
void copy_into(const PmuOpenEvent& to, perf_event_mmap_page* page, u64 position, const void* from, u64 n) {
  u8* const data = reinterpret_cast<u8*>(page) + page_bytes;
  const u64 at = position & (data_bytes(to) - 1), room = data_bytes(to) - at, first = n < room ? n : room;
  copy(data + at, from, first);
  copy(data, static_cast<const u8*>(from) + first, n - first);
}

/// Adds a record at the head. Returns false if it has no room: as in the kernel, the ring never becomes quite full.
bool add_record(const PmuOpenEvent& to, perf_event_mmap_page* page, const perf_event_header& record) {
  const bool backward = has_flag(to, Flag::write_backward);
  const u64 head = page->data_head, tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
  const u64 used = backward ? tail - head : head - tail, next = backward ? head - record.size : head + record.size;
  if (record.size > data_bytes(to) || (to.sampling.overwrites == 0 && used + record.size >= data_bytes(to)))
    return false;
  copy_into(to, page, backward ? next : head, &record, record.size);
  __atomic_store_n(&page->data_head, next, __ATOMIC_RELEASE);
  return true;
}

void release_ring(PmuOpenEvent& e) {
  if (e.sampling.ring == 0) return;
  // Its pages are not used again while the program still has them mapped.
  if (MappedRing* const r = mapped(e); r != nullptr) {
    r->has_ended = true;
    if (r->of_program == 0) forget(*r);
  } else {
    pmu_table().rings--;
  }
  e.sampling.ring = e.sampling.ring_pages = 0;
}

}  // namespace

bool make_ring(PmuOpenEvent& e, u32 pages) {
  channel::PmuTable& table = pmu_table();
  if (e.sampling.ring != 0 && e.sampling.ring_pages == pages) return true;
  release_ring(e);
  if (table.rings == 0) table.ring_end = 0;
  if (pages + 2 > channel::pmu_ring_page_limit - table.ring_end) return false;
  e.sampling.ring = table.ring_end + 1;
  e.sampling.ring_pages = pages;
  e.sampling.woken_at = 0;
  table.ring_end += pages + 1;
  table.rings++;
  perf_event_mmap_page* const page = ring_of(e);
  if (page == nullptr) {
    release_ring(e);
    return false;
  }
  clear(page, page_bytes);
  page->data_offset = page_bytes;
  page->data_size = u64{pages} * page_bytes;
  return true;
}

perf_event_mmap_page* ring_of(const PmuOpenEvent& e) {
  MappedRing* const r = e.sampling.ring != 0 ? mapped(e) : nullptr;
  if (r == nullptr) return nullptr;
  if (r->at == 0) {
    const u64 bytes = bytes_of(*r), at = try_reserve(bytes, PROT_NONE);
    if (at == 0) return nullptr;
    if (!map_channel(at, bytes, channel::pmu_ring_offset(r->page))) {
      unreserve(at, bytes);
      return nullptr;
    }
    kernel(SYS_madvise, at, bytes, MADV_DONTFORK);
    r->at = at;
  }
  return reinterpret_cast<perf_event_mmap_page*>(r->at);
}

void forget_rings() {
  for (u32 i = 0; i < mapped_rings.size; i++) mapped_rings[i].at = mapped_rings[i].of_program = 0;
  // An event that only this holds ends, and its ring with it: the last of the list is then in its place.
  for (u32 i = mapped_rings.size; i-- > 0;)
    if (const u32 event = mapped_rings[i].keeps; event != 0 && is_last_hold(event)) let_go(current(), event);
  mapped_rings.size = 0;
}

bool has_mapped_rings() { return __atomic_load_n(&mapped_rings.size, __ATOMIC_RELAXED) != 0; }

bool is_mapped_with_others(const PmuOpenEvent& e, u32 pages) {
  if (e.sampling.ring == 0 || e.sampling.ring_pages == pages) return false;
  const MappedRing* const r = mapped(e);
  return r != nullptr && r->of_program != 0;
}

void ring_is_mapped(const PmuOpenEvent& e, u64 at) {
  MappedRing* const r = mapped(e);
  if (r == nullptr) return;
  r->of_program = at;
  if (r->keeps != 0 || !is_held(e)) return;
  r->keeps = static_cast<u32>(&e - pmu_table().event);
  held[r->keeps]++;
}

bool has_ring_in(u64 at, u64 bytes) {
  for (u32 i = 0; i < mapped_rings.size; i++) {
    const MappedRing& r = mapped_rings[i];
    if (r.of_program != 0 && r.of_program < at + bytes && at < r.of_program + bytes_of(r)) return true;
  }
  return false;
}

void ring_is_moved(u64 from, u64 to) {
  for (u32 i = 0; i < mapped_rings.size; i++)
    if (mapped_rings[i].of_program == from) mapped_rings[i].of_program = to;
}

u32 ring_is_unmapped(u64 at, u64 bytes) {
  for (u32 i = 0; i < mapped_rings.size; i++) {
    MappedRing& r = mapped_rings[i];
    if (r.of_program < at || r.of_program - at >= bytes) continue;
    const u32 kept = r.keeps;
    r.of_program = r.keeps = 0;
    if (r.has_ended) forget(mapped_rings[i--]);
    if (kept != 0) return kept;
  }
  return 0;
}

void end_rings() {
  for (u32 i = mapped_rings.size; i-- > 0;)
    if (mapped_rings[i].has_ended) forget(mapped_rings[i]);
}

void end_ring(PmuOpenEvent& e) {
  if (e.sampling.output != 0) pmu_event(e.sampling.output).sampling.outputs--;
  for (u32 at = 1; e.sampling.outputs != 0 && at <= pmu_table().events; at++)
    if (pmu_event(at).sampling.output != 0 && &pmu_event(pmu_event(at).sampling.output) == &e) redirect(at, 0);
  release_ring(e);
}

PmuOpenEvent* output_of(PmuOpenEvent& e) {
  PmuOpenEvent& to = e.sampling.output != 0 ? pmu_event(e.sampling.output) : e;
  return to.sampling.ring != 0 && to.sampling.ring_pages != 0 ? &to : nullptr;
}

bool redirect(u32 event, u32 to) {
  PmuOpenEvent& e = pmu_event(event);
  if (to != 0) {
    const PmuOpenEvent& target = pmu_event(to);
    const bool may_share = target.cpu == e.cpu && (e.cpu != -1 || target.of == e.of) &&
                           has_flag(target, Flag::use_clock) == has_flag(e, Flag::use_clock) &&
                           has_flag(target, Flag::write_backward) == has_flag(e, Flag::write_backward) &&
                           target.sampling.clock == e.sampling.clock;
    if (to == event || target.is_kernels || target.sampling.ring == 0 || !may_share || e.sampling.ring != 0)
      return false;
  }
  if (e.sampling.output != 0) pmu_event(e.sampling.output).sampling.outputs--;
  e.sampling.output = to;
  if (to != 0) pmu_event(to).sampling.outputs++;
  return true;
}

bool write_record(PmuOpenEvent& e, const perf_event_header* record) {
  PmuOpenEvent* const to = output_of(e);
  perf_event_mmap_page* const page = to != nullptr ? ring_of(*to) : nullptr;
  if (page == nullptr) return false;
  channel::PmuSampling& ring = to->sampling;
  if (ring.lost != 0 && !ring.is_paused) {
    LostRecord lost{{PERF_RECORD_LOST, 0, sizeof(perf_event_header) + 16}, e.id, ring.lost, {}};
    add_sample_id(e, lost.header);
    if (add_record(*to, page, lost.header)) ring.lost = 0;
  }
  if (ring.is_paused || ring.lost != 0 || record == nullptr || !add_record(*to, page, *record)) {
    ring.lost++;
    if (record == nullptr || record->type == PERF_RECORD_SAMPLE) e.sampling.lost_ever++;
    return false;
  }
  const bool by_bytes = has_flag(e, Flag::watermark);
  u64 watermark = by_bytes ? e.sampling.wakeup : 0;
  if (watermark == 0 || watermark > data_bytes(*to)) watermark = data_bytes(*to) / 2;
  bool wakes = false;
  const u64 written = has_flag(*to, Flag::write_backward) ? -page->data_head : page->data_head;
  if (written - ring.woken_at > watermark) {
    ring.woken_at += watermark;
    wakes = true;
  }
  if (!by_bytes && e.sampling.wakeup != 0 && record->type == PERF_RECORD_SAMPLE &&
      ++ring.since_wakeup >= e.sampling.wakeup) {
    ring.since_wakeup = 0;
    wakes = true;
  }
  return wakes;
}

}  // namespace tally::engine::guest
