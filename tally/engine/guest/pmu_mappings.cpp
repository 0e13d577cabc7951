#include "tally/engine/guest/pmu_mappings.hpp"

#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/pmu_groups.hpp"
#include "tally/engine/guest/pmu_pages.hpp"
#include "tally/engine/guest/pmu_rings.hpp"
#include "tally/engine/inherited.hpp"

namespace tally::engine::guest {

s64 map_pmu_event(Thread* t) {
  constexpr u64 shared = 1;
  u64* const g = t->gpr;
  const u64 number = g[r8], bytes = page_up(g[rsi]), buffer_pages = bytes / page_bytes - 1;
  u64 offset = 0;
  const s64 error = with_event(t, number, [&](u32 event) -> s64 {
    PmuOpenEvent& e = pmu_event(event);
    if (e.is_kernels) return not_of_pmu;
    const bool is_possible = bytes != 0 && (buffer_pages & (buffer_pages - 1)) == 0 && g[r9] == 0 &&
                             buffer_pages < channel::pmu_ring_page_limit;
    if ((g[rdx] & PROT_EXEC) != 0) return -EPERM;  // since Linux 6.16
    if ((e.inherits && e.cpu == -1) || !(g[r10] & shared) || !is_possible) return -EINVAL;
    if (is_mapped_with_others(e, static_cast<u32>(buffer_pages))) return -EINVAL;
    update_group(e.leader, Update::to_read);
    if (e.sampling.output != 0 || !make_page(event, static_cast<u32>(buffer_pages))) return -ENOMEM;
    e.sampling.overwrites = (g[rdx] & PROT_WRITE) == 0;
    offset = channel::pmu_ring_offset(e.sampling.ring);
    return 0;
  });
  if (error != 0) return error;
  g[r8] = inherited(channel::inherited_channel);
  g[r9] = offset;
  const s64 at = emulate_mapping(t);
  g[r8] = number;
  g[r9] = 0;
  if (failed(at)) return at;
  kernel(SYS_madvise, static_cast<u64>(at), bytes, MADV_DONTFORK);
  PmuGuard guard;
  if (const u32 event = find_event(number); event != 0) ring_is_mapped(pmu_event(event), static_cast<u64>(at));
  return at;
}

void pmu_memory_unmapped(u64 at, u64 bytes) {
  if (!may_have_events || !has_mapped_rings()) return;
  for (u32 event = 1; event != 0;) {
    {
      PmuGuard guard;
      event = ring_is_unmapped(at, bytes);
    }
    pmu_event_closed(current(), event, ~u64{0});
  }
}

void pmu_memory_moved(u64 from, u64 to) {
  if (!may_have_events || !has_mapped_rings()) return;
  PmuGuard guard;
  ring_is_moved(from, to);
}

s64 pmu_memory_refuses(u64 number, u64 at, u64 bytes, u64 to) {
  const bool grows = number == SYS_mremap && page_up(to) > page_up(bytes);
  const bool becomes_code = (number == SYS_mprotect || number == SYS_pkey_mprotect) && (to & PROT_EXEC) != 0;
  if (!(grows || becomes_code) || !may_have_events || !has_mapped_rings()) return 0;
  PmuGuard guard;
  return !has_ring_in(at, bytes) ? 0 : grows ? -EFAULT : -EACCES;
}

}  // namespace tally::engine::guest
