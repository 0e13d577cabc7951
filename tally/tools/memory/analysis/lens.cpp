#include "tally/tools/memory/analysis/lens.hpp"

#include <algorithm>
#include <array>

namespace tally::memory {

std::uint64_t lens_regions(std::uint64_t region_bytes) {
  constexpr std::uint64_t kib = 1024;
  std::uint64_t regions = std::min<std::uint64_t>((std::uint64_t{64} << 30) / region_bytes, 1 << 20);
  if (region_bytes <= 512) regions *= 8;
  for (const std::uint64_t limit : std::array{16 * kib, 32 * kib, 64 * kib, 128 * kib, 512 * kib}) {
    if (region_bytes >= limit) regions /= 2;
  }
  return std::max<std::uint64_t>(regions, 1);
}

LensTimes lens_times(const LensRow& row) {
  const double lines = row.regions * row.region_bytes / 64;
  const double ns_per_tick = row.total_ns / (row.end - row.start);
  return {(row.middle - row.start) * ns_per_tick / lines, (row.end - row.middle) * ns_per_tick / lines};
}

}  // namespace tally::memory
