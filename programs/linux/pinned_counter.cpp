#include "programs/linux/pinned_counter.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "tally/linux/machine/pages.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

std::optional<CounterPlace> PinnedCounter::place() const {
  const auto* page = reinterpret_cast<const volatile CounterPage*>(page_.data());
  // Lock, index and width may change together, perhaps on another CPU.
  for (int tries = 0; tries < 16; ++tries) {
    const std::uint64_t before = page->sequence;
    const std::uint64_t capabilities = page->capabilities;
    const unsigned width = page->width;
    const auto index = static_cast<std::uint32_t>(before >> 32);
    if (page->sequence != before) continue;
    if (index == 0 || !allows_user_reads(capabilities)) return std::nullopt;
    return CounterPlace{index - 1, width};
  }
  return std::nullopt;
}

Result<PinnedCounter> pin_counter(const PerfEvent& event, int processor) {
  PerfTarget target;
  target.thread = -1;
  target.processor = processor;
  target.pinned = true;
  PerfCounter counter = open_counter(event, target);
  if (!counter) return fail(Code::cannot_measure, errno_text(counter.os_errno), "", counter.os_errno);
  // perf_event_open(2): a pinned event without a free counter is in an error state, and reads return nothing.
  if (!counter.read()) return fail(Code::cannot_measure, "all counters that can count it are taken");
  void* at = mmap(nullptr, page_bytes(), PROT_READ, MAP_SHARED, counter.fd.get(), 0);
  if (at == MAP_FAILED) return system_failure(Code::cannot_measure, "its page cannot be mapped");
  return PinnedCounter(std::move(counter), Mapping(static_cast<std::uint8_t*>(at), page_bytes()));
}

}  // namespace tally::linux
