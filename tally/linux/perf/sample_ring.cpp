#include "tally/linux/perf/sample_ring.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "tally/linux/machine/pages.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<SampleRing> SampleRing::map(const PerfCounter& counter, std::size_t pages) {
  const std::size_t page = page_bytes(), bytes = pages * page;
  void* at = mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, counter.fd.get(), 0);
  if (at == MAP_FAILED) {
    return system_failure(Code::cannot_measure, fmt::format("cannot map {} pages of samples (mmap)", pages),
                          "kernel.perf_event_mlock_kb limits the memory of each user");
  }
  SampleRing made;
  made.mapping_ = Mapping(static_cast<std::uint8_t*>(at), page + bytes);
  made.bytes_ = bytes;
  return made;
}

std::uint64_t SampleRing::written() const {
  const auto& head_page = *reinterpret_cast<const perf_event_mmap_page*>(mapping_.data());
  return __atomic_load_n(&head_page.data_head, __ATOMIC_ACQUIRE);
}

std::optional<RingRecord> SampleRing::first(std::uint64_t end) {
  if (at_ >= end) return std::nullopt;
  const auto* records = reinterpret_cast<const std::byte*>(mapping_.data()) + page_bytes();
  // Records begin at multiples of 8: the ring's end never splits a header.
  const std::size_t offset = at_ & (bytes_ - 1);
  perf_event_header header;
  std::memcpy(&header, records + offset, sizeof header);
  if (header.size < sizeof header) {  // no kernel writes that: the records after it cannot be found
    at_ = end;
    return std::nullopt;
  }
  const std::byte* from = records + offset;
  if (const std::size_t before_end = bytes_ - offset; header.size > before_end) {
    unfolded_.resize(header.size);
    std::copy_n(from, before_end, unfolded_.begin());
    std::copy_n(records, header.size - before_end, unfolded_.begin() + static_cast<std::ptrdiff_t>(before_end));
    from = unfolded_.data();
  }
  size_ = header.size;
  return RingRecord{header.type, {from + sizeof header, header.size - sizeof header}, header.misc};
}

void SampleRing::pass() {
  at_ += size_;
  if (at_ - given_back_ >= bytes_ / 8) give_back();
}

void SampleRing::give_back() {
  auto& head_page = *reinterpret_cast<perf_event_mmap_page*>(mapping_.data());
  __atomic_store_n(&head_page.data_tail, at_, __ATOMIC_RELEASE);
  given_back_ = at_;
}

void SampleRing::drain(const std::function<void(const RingRecord&)>& visit) {
  const std::uint64_t end = written();
  while (const auto record = first(end)) {
    visit(*record);
    pass();
  }
  give_back();
}

}  // namespace tally::linux
