#include "programs/memory/analysis/lens.hpp"

namespace tally::memory {

LensTimes lens_times(const LensRow& row) {
  const double lines = row.regions * row.region_bytes / 64;
  const double ns_per_tick = row.total_ns / (row.end - row.start);
  return {(row.middle - row.start) * ns_per_tick / lines, (row.end - row.middle) * ns_per_tick / lines};
}

}  // namespace tally::memory
