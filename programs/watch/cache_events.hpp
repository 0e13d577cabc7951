// The events that count hits and misses of the L2 and L3 caches, by processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/watch/machine_reading.hpp"
#include "tally/hardware/event/pfm.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::watch {

/// A cache event, ready to be opened.
struct CacheEvent {
  Counted counts;
  std::string name;  ///< the name in libpfm4 or the kernel
  std::uint64_t config = 0;
  bool accesses = false;  ///< of a hit event: it counts hits and misses together
  bool operator==(const CacheEvent&) const = default;
};

/// Returns the cache events of a processor: by libpfm4's names, and on arm64 by the kernel's. Omits counts without an
/// event. Cost: some lookups in libpfm4's tables.
std::vector<CacheEvent> cache_events(const event::pfm::Pmu* table, const linux::PmuDevice& device);

}  // namespace tally::watch
