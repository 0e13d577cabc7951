#include "tally/linux/perf/sample_ring.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "tally/linux/machine/pages.hpp"
#include "tally/linux/system.hpp"

namespace tally::linux {

Result<SampleRing> SampleRing::map(const PerfCounter& counter, std::size_t pages) {
  const std::size_t page = page_bytes(), bytes = pages * page;
  void* at = mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, counter.fd.get(), 0);
  if (at == MAP_FAILED) {
    return system_failure(Code::cannot_measure, fmt::format("cannot map {} pages of samples (mmap)", pages),
                          "kernel.perf_event_mlock_kb says how much a user may have");
  }
  SampleRing made;
  made.mapping_ = Mapping(static_cast<std::uint8_t*>(at), page + bytes);
  made.bytes_ = bytes;
  return made;
}

void SampleRing::drain(const std::function<void(const RingRecord&)>& visit) {
  auto& head_page = *reinterpret_cast<perf_event_mmap_page*>(mapping_.data());
  const auto* records = reinterpret_cast<const std::byte*>(mapping_.data()) + page_bytes();
  const std::uint64_t end = __atomic_load_n(&head_page.data_head, __ATOMIC_ACQUIRE);
  std::uint64_t at = head_page.data_tail;
  while (at < end) {
    // Records begin at multiples of 8: the ring's end never cuts a header.
    const std::size_t offset = at & (bytes_ - 1);
    perf_event_header header;
    std::memcpy(&header, records + offset, sizeof header);
    if (header.size < sizeof header) break;
    const std::byte* from = records + offset;
    if (const std::size_t before_end = bytes_ - offset; header.size > before_end) {
      unfolded_.resize(header.size);
      std::copy_n(from, before_end, unfolded_.begin());
      std::copy_n(records, header.size - before_end, unfolded_.begin() + static_cast<std::ptrdiff_t>(before_end));
      from = unfolded_.data();
    }
    visit({header.type, {from + sizeof header, header.size - sizeof header}});
    at += header.size;
  }
  __atomic_store_n(&head_page.data_tail, at, __ATOMIC_RELEASE);
}

}  // namespace tally::linux
