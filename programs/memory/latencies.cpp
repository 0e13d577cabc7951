#include "programs/memory/latencies.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

std::vector<result::MemoryPoint> curve_of(const result::Memory& result) {
  std::vector<result::MemoryPoint> curve;
  for (const result::MemoryPoint& point : result.points)
    if (point.task == "curve" && point.ns && point.cycles) curve.push_back(point);
  std::sort(curve.begin(), curve.end(),
            [](const auto& smaller, const auto& larger) { return smaller.region_bytes < larger.region_bytes; });
  return curve;
}

// The smallest size from which on no load is much faster than memory.
std::uint64_t served_by_memory(const std::vector<result::MemoryPoint>& curve, double memory_ns) {
  constexpr double about_as_long = 0.85;
  std::uint64_t smallest = 0;
  for (auto point = curve.rbegin(); point != curve.rend() && *point->ns >= about_as_long * memory_ns; ++point)
    smallest = point->region_bytes;
  return smallest;
}

}  // namespace

machines::MeasuredMemory latencies_of(const result::Memory& result) {
  machines::MeasuredMemory measured;
  bool is_size_known = true;
  for (const result::MemoryLevel& level : result.levels) {
    if (level.name == "LLC") is_size_known = !level.contended;
    if (level.contended || level.ns <= 0 || !level.cycles) continue;
    const auto cycles = static_cast<std::uint64_t>(std::llround(*level.cycles));
    if (level.name == "L2") measured.l2 = cycles;
    if (level.name == "LLC") {
      measured.llc = cycles;
      if (level.capacity_bytes) measured.llc_bytes = static_cast<std::uint64_t>(*level.capacity_bytes);
    }
    if (level.name == "memory") {
      measured.memory = cycles;
      if (measured.llc_bytes == 0 && is_size_known) measured.llc_bytes = served_by_memory(curve_of(result), level.ns);
    }
  }
  return measured;
}

std::string contended_levels(const result::Memory& result) {
  std::vector<std::string> names;
  for (const result::MemoryLevel& level : result.levels)
    if (level.contended && !level.unseen && (level.name == "L2" || level.name == "LLC" || level.name == "memory"))
      names.push_back(level.name);
  return join(names, ", ");
}

}  // namespace tally::memory
