// What misses add to the core's cycles.
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/cache/tlb.hpp"

namespace tally::models {

/// How long things take that the core model leaves out: cycles from a load to its use where it is found in that place,
/// and cycles lost by a wrong prediction. Nothing overlaps in the model, so a program that has many misses on their way
/// at once takes less in fact.
struct Latencies {
  std::uint16_t l2 = 0, llc = 0, memory = 0;
  std::uint16_t stlb = 0,
                walk = 0;  ///< added by a translation that is found in the second level, and by one that is not
  std::uint16_t mispredict = 0;
  bool operator==(const Latencies&) const = default;
};

/// Cycles that misses of loads and of instruction fetches add to those of the core, whose own loads take
/// `load_latency`. Stores are waited for by nobody. Models that were not run have counts of zero and add nothing.
std::uint64_t miss_cycles(const Latencies& latencies, unsigned load_latency, const HierarchyCounts& caches,
                          const TlbCounts& tlbs, const BranchCounts& branches);

}  // namespace tally::models
