#include "tally/engine/models/core/cycles.hpp"

namespace tally::models {

namespace {

// Accesses by the level that served them.
struct Served {
  std::uint64_t l2, llc, memory;
};

// Misses of the last existing level go to memory.
Served served(const HierarchyShape& shape, const HierarchyCounts& caches, std::uint64_t LevelCounts::*asked,
              std::uint64_t LevelCounts::*missed) {
  const std::uint64_t from_memory = shape.llc.sets != 0  ? caches.llc.*missed
                                    : shape.l2.sets != 0 ? caches.l2.*missed
                                                         : caches.l1i.*missed + caches.l1d.*missed;
  return {caches.l2.*asked - caches.l2.*missed, caches.llc.*asked - caches.llc.*missed, from_memory};
}

template <class Wait>
std::uint64_t cycles_of(const Served& counts, const Latencies& latencies, Wait&& wait) {
  return counts.l2 * wait(latencies.l2) + counts.llc * wait(latencies.llc) + counts.memory * wait(latencies.memory);
}

}  // namespace

std::uint64_t miss_cycles(const Latencies& latencies, const LoadWaits& waits, const HierarchyShape& shape,
                          const HierarchyCounts& caches, const TlbCounts& tlbs, const BranchCounts& branches) {
  const auto whole = [&](unsigned latency) { return std::uint64_t{waits.whole(latency)}; };
  const auto shared = [&](unsigned latency) { return std::uint64_t{waits.shared(latency)}; };
  const Served fetches = served(shape, caches, &LevelCounts::fetches, &LevelCounts::fetch_misses);
  const Served loads = served(shape, caches, &LevelCounts::loads, &LevelCounts::load_misses);
  const Served chases{caches.chases.l2, caches.chases.llc, caches.chases.memory};
  const Served others{loads.l2 - chases.l2, loads.llc - chases.llc, loads.memory - chases.memory};
  const std::uint64_t walks = tlbs.stlb.load_misses + tlbs.stlb.fetch_misses;
  const std::uint64_t translations = tlbs.stlb.loads + tlbs.stlb.fetches - walks;
  return cycles_of(fetches, latencies, whole) + cycles_of(chases, latencies, whole) +
         cycles_of(others, latencies, shared) + translations * latencies.stlb + walks * latencies.walk +
         branches.misses() * latencies.mispredict;
}

}  // namespace tally::models
