#include "tally/engine/models/core/cycles.hpp"

namespace tally::models {

namespace {

// Loads and fetches, which the core waits for.
std::uint64_t awaited(const LevelCounts& level) { return level.loads + level.fetches; }
std::uint64_t awaited_misses(const LevelCounts& level) { return level.load_misses + level.fetch_misses; }

// Returns the cycles in excess of an L1 hit.
std::uint64_t beyond(unsigned latency, unsigned load_latency) {
  return latency > load_latency ? latency - load_latency : 0;
}

}  // namespace

std::uint64_t miss_cycles(const Latencies& latencies, unsigned load_latency, const HierarchyCounts& caches,
                          const TlbCounts& tlbs, const BranchCounts& branches) {
  const std::uint64_t l2_hits = awaited(caches.l2) - awaited_misses(caches.l2);
  const std::uint64_t llc_hits = awaited(caches.llc) - awaited_misses(caches.llc);
  // Misses of the last level that was used go to memory; without a second level, those of the first.
  const std::uint64_t from_memory = caches.llc.references() > 0 ? awaited_misses(caches.llc)
                                    : caches.l2.references() > 0
                                        ? awaited_misses(caches.l2)
                                        : awaited_misses(caches.l1i) + awaited_misses(caches.l1d);
  const std::uint64_t translations = awaited(tlbs.stlb) - awaited_misses(tlbs.stlb);
  return l2_hits * beyond(latencies.l2, load_latency) + llc_hits * beyond(latencies.llc, load_latency) +
         from_memory * beyond(latencies.memory, load_latency) + translations * latencies.stlb +
         awaited_misses(tlbs.stlb) * latencies.walk + branches.misses() * latencies.mispredict;
}

}  // namespace tally::models
