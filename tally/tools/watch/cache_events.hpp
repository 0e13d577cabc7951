// Which events count hits and misses of the second and third cache, by processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/hardware/event/pfm.hpp"
#include "tally/linux/perf/pmu_devices.hpp"
#include "tally/tools/watch/reading.hpp"

namespace tally::watch {

/// One of them, ready to be opened.
struct CacheEvent {
  Counted counts;
  std::string name;  ///< as libpfm4 or the kernel names it
  std::uint64_t config = 0;
  bool accesses = false;  ///< of a hit: it counts hits and misses together
  bool operator==(const CacheEvent&) const = default;
};

/// Those that a processor has: by libpfm4's names, and on arm64 by the kernel's. What has none is left out. Cost: some
/// look-ups in libpfm4's tables.
std::vector<CacheEvent> cache_events(const event::pfm::Pmu* table, const linux::PmuDevice& device);

}  // namespace tally::watch
