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

}  // namespace

CycleTimes miss_cycles(const Latencies& latencies, const LoadWaits& waits, const HierarchyShape& shape,
                       const HierarchyCounts& caches, const TlbCounts& tlbs, const BranchCounts& branches) {
  const Served fetches = served(shape, caches, &LevelCounts::fetches, &LevelCounts::fetch_misses);
  const Served loads = served(shape, caches, &LevelCounts::loads, &LevelCounts::load_misses);
  const ChaseCounts& chases = caches.chases;
  const auto waited = [&](std::uint64_t all, std::uint64_t chased, unsigned latency) {
    return chased * waits.whole(latency) + (all - chased) * waits.shared(latency);
  };
  const auto translated = [&](std::uint64_t all, std::uint64_t walks) {
    return (all - walks) * latencies.stlb + walks * latencies.walk;
  };
  CycleTimes cycles;
  cycles.of(Cause::l2) = waited(loads.l2, chases.l2, latencies.l2);
  cycles.of(Cause::l3) = waited(loads.llc, chases.llc, latencies.llc);
  cycles.of(Cause::dram) = waited(loads.memory, chases.memory, latencies.memory);
  cycles.of(Cause::tlb) = translated(tlbs.stlb.loads, tlbs.stlb.load_misses);
  cycles.of(Cause::front_end) =
      waited(fetches.l2, fetches.l2, latencies.l2) + waited(fetches.llc, fetches.llc, latencies.llc) +
      waited(fetches.memory, fetches.memory, latencies.memory) + translated(tlbs.stlb.fetches, tlbs.stlb.fetch_misses);
  cycles.of(Cause::mispredicts) = branches.misses() * latencies.mispredict;
  return cycles;
}

}  // namespace tally::models
