// The cycles that misses add to those of the core.
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"

namespace tally::models {

/// Latencies that the core model excludes: cycles from a load to its use by the level that serves it, and cycles lost
/// by a misprediction. Nothing overlaps in this model, so a program with many outstanding misses takes less time in
/// reality.
struct Latencies {
  std::uint16_t l2 = 0, llc = 0, memory = 0;
  std::uint16_t stlb = 0,
                walk = 0;  ///< added by a translation that hits in the second level, and by one that misses
  std::uint16_t mispredict = 0;
  bool operator==(const Latencies&) const = default;
};

/// Returns the cycles that misses of loads and fetches add to those of the core, whose own loads take `load_latency`.
/// Stores do not stall. Models that were not run have zero counts and add nothing.
std::uint64_t miss_cycles(const Latencies& latencies, unsigned load_latency, const HierarchyCounts& caches,
                          const TlbCounts& tlbs, const BranchCounts& branches);

}  // namespace tally::models
