#include "programs/memory/latencies.hpp"

#include <algorithm>
#include <cmath>

namespace tally::memory {
namespace {

// The smallest size from which on no load is much faster than memory; 0 if there is none.
std::uint64_t served_by_memory(const result::Memory& result, double memory_ns) {
  constexpr double about_as_long = 0.85;
  std::uint64_t smallest = 0, largest_faster = 0;
  for (const result::MemoryPoint& point : result.points)
    if (point.task == "curve" && point.ns && *point.ns < about_as_long * memory_ns)
      largest_faster = std::max(largest_faster, point.region_bytes);
  for (const result::MemoryPoint& point : result.points)
    if (point.task == "curve" && point.ns && point.region_bytes > largest_faster)
      smallest = smallest == 0 ? point.region_bytes : std::min(smallest, point.region_bytes);
  return smallest;
}

}  // namespace

machines::MeasuredMemory latencies_of(const result::Memory& result) {
  machines::MeasuredMemory measured;
  for (const result::MemoryLevel& level : result.levels) {
    if (level.ns <= 0 || !level.cycles) continue;
    const auto cycles = static_cast<std::uint64_t>(std::llround(*level.cycles));
    if (level.name == "L2") measured.l2 = cycles;
    if (level.name == "LLC") {
      measured.llc = cycles;
      if (level.capacity_bytes) measured.llc_bytes = static_cast<std::uint64_t>(*level.capacity_bytes);
    }
    if (level.name == "memory") {
      measured.memory = cycles;
      if (measured.llc_bytes == 0) measured.llc_bytes = served_by_memory(result, level.ns);
    }
  }
  return measured;
}

}  // namespace tally::memory
