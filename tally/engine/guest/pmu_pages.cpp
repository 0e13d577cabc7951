#include "tally/engine/guest/pmu_pages.hpp"

#include <linux/perf_event.h>

namespace tally::engine::guest {
namespace {

/// A page, as the engine has it mapped.
struct MappedPage {
  u32 event;
  perf_event_mmap_page* page;
};
constexpr u32 page_limit = 1 << 16;
Growing<MappedPage> mapped_pages;

}  // namespace

void show(u32 event) {
  for (u32 i = 0; i < mapped_pages.size; i++) {
    if (mapped_pages[i].event != event) continue;
    perf_event_mmap_page& page = *mapped_pages[i].page;
    s64 offset = 0;
    const bool has_counter = counter_offset(event, current()->index, offset);
    __atomic_add_fetch(&page.lock, 1, __ATOMIC_SEQ_CST);
    page.index = has_counter ? event + 1 : 0;
    page.offset = has_counter ? offset : count_of(pmu_event(event));
    page.time_enabled = page.time_running = enabled_ns_of(pmu_event(event));
    page.cap_user_rdpmc = 1;
    __atomic_add_fetch(&page.lock, 1, __ATOMIC_SEQ_CST);
  }
}

void show_group(u32 leader) {
  if (mapped_pages.size == 0) return;
  for_group(leader, [](const PmuOpenEvent& e) { show(static_cast<u32>(&e - pmu_table().event)); });
}

void end_pages(u32 event) {
  for (u32 i = 0; i < mapped_pages.size; i++) {
    if (mapped_pages[i].event != event) continue;
    mapped_pages[i].page->index = 0;
    mapped_pages[i].page->offset = count_of(pmu_event(event));
    unreserve(reinterpret_cast<u64>(mapped_pages[i].page), page_bytes);
    mapped_pages[i--] = mapped_pages[--mapped_pages.size];
  }
}

void forget_pages() { mapped_pages.size = 0; }

s64 make_page(u32 event, u64 bytes) {
  if (mapped_pages.data == nullptr && !mapped_pages.try_init_in_steps(page_limit)) return -ENOMEM;
  const u64 at = mapped_pages.full() ? 0 : try_reserve(page_bytes, PROT_NONE);
  if (at == 0) return -ENOMEM;
  const s64 file = kernel(SYS_memfd_create, reinterpret_cast<u64>("[perf_event]"), 1 /* MFD_CLOEXEC */);
  if (failed(file) || failed(kernel(SYS_ftruncate, static_cast<u64>(file), bytes)) ||
      failed(kernel(SYS_mmap, at, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, static_cast<u64>(file),
                    0))) {
    unreserve(at, page_bytes);
    return -ENOMEM;
  }
  kernel(SYS_madvise, at, page_bytes, MADV_DONTFORK);
  auto* const page = reinterpret_cast<perf_event_mmap_page*>(at);
  page->cap_bit0_is_deprecated = 1;
  page->size = static_cast<u32>(reinterpret_cast<u64>(&page->__reserved) - at);
  page->pmc_width = counter_bits;
  page->data_offset = page_bytes;
  page->data_size = bytes - page_bytes;
  mapped_pages.add({event, page});
  show(event);
  return file;
}

}  // namespace tally::engine::guest
