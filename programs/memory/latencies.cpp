#include "programs/memory/latencies.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

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

// Memory, on a machine that was too busy for a reliable curve: the largest regions, if their times differ little. Other
// programs displace lines from caches, which these regions do not fit anyway.
result::MemoryLevel busy_memory(const std::vector<result::MemoryPoint>& curve) {
  constexpr std::ptrdiff_t regions = 3;
  constexpr double most_difference = 1.15;
  constexpr std::uint64_t least_bytes = 64 << 20;
  if (std::ssize(curve) < regions || curve.back().region_bytes < least_bytes) return {};
  std::vector<result::MemoryPoint> last(curve.end() - regions, curve.end());
  std::sort(last.begin(), last.end(), [](const auto& faster, const auto& slower) { return *faster.ns < *slower.ns; });
  if (*last.back().ns > most_difference * *last.front().ns) return {};
  const result::MemoryPoint& middle = last[regions / 2];
  return {.ns = *middle.ns, .cycles = middle.cycles};
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
  const std::vector<result::MemoryPoint> curve = curve_of(result);
  machines::MeasuredMemory measured;
  for (result::MemoryLevel level : result.levels) {
    if (level.name == "memory" && level.contended && level.ns <= 0) {
      level = busy_memory(curve);
      level.name = "memory";
    }
    if (level.ns <= 0 || !level.cycles) continue;
    const auto cycles = static_cast<std::uint64_t>(std::llround(*level.cycles));
    if (level.name == "L2") measured.l2 = cycles;
    if (level.name == "LLC") {
      measured.llc = cycles;
      if (level.capacity_bytes) measured.llc_bytes = static_cast<std::uint64_t>(*level.capacity_bytes);
    }
    if (level.name == "memory") {
      measured.memory = cycles;
      if (measured.llc_bytes == 0) measured.llc_bytes = served_by_memory(curve, level.ns);
    }
  }
  return measured;
}

}  // namespace tally::memory
