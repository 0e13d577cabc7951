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
                       const HierarchyCounts& caches, const BranchCounts& branches) {
  const Served fetches = served(shape, caches, &LevelCounts::fetches, &LevelCounts::fetch_misses);
  const Served loads = served(shape, caches, &LevelCounts::loads, &LevelCounts::load_misses);
  const Served all_stores = served(shape, caches, &LevelCounts::stores, &LevelCounts::store_misses);
  const ChaseCounts &chases = caches.chases, &stores = caches.chase_stores;
  const MissCounts& misses = caches.misses;
  const auto larger = [](unsigned a, unsigned b) { return a > b ? a : b; };
  // Of `all` loads some are chases, and some are of streams, of which some are busy.
  const auto waited = [&](std::uint64_t all, std::uint64_t chased, std::uint64_t streams, std::uint64_t busy,
                          unsigned latency, unsigned shared, unsigned line) {
    return chased * larger(waits.whole(latency), line) + (streams - busy) * (line > 0 ? line - 1 : 0) +
           busy * (line > LoadWaits::busy ? line - LoadWaits::busy : 0) +
           (all - chased - streams) * larger(shared, line);
  };
  // Differences may wrap.
  const auto stored = [&](std::uint64_t all, std::uint64_t chased, unsigned latency, unsigned line) {
    return chased * larger(waits.whole(latency), line) + (all - chased) * (line * 2U / 3);
  };
  // A translation delays its access by that much more.
  const auto translated = [&](std::uint64_t all, std::uint64_t chased, unsigned delay) {
    return chased * delay + (all - chased) * waits.shared(delay + waits.hit);
  };
  CycleTimes cycles;
  cycles.of(Cause::l2) = waited(loads.l2, chases.l2, misses.busy_l2, misses.busy_l2, latencies.l2,
                                waits.shared(latencies.l2), latencies.l2_line) +
                         stored(stores.l2, stores.l2, latencies.l2, latencies.l2_line) + misses.crowded;
  cycles.of(Cause::l3) = waited(loads.llc, chases.llc, misses.stream_llc, misses.busy_llc, latencies.llc,
                                waits.shared(latencies.llc), latencies.llc_line) +
                         stored(all_stores.llc, stores.llc, latencies.llc, latencies.llc_line);
  cycles.of(Cause::dram) = waited(loads.memory, chases.memory, misses.stream_memory, misses.busy_memory,
                                  latencies.memory, waits.shared_memory(latencies), latencies.memory_line) +
                           stored(all_stores.memory, stores.memory, latencies.memory, latencies.memory_line);
  cycles.of(Cause::tlb) = translated(misses.stlb_data, misses.stlb_chases, latencies.stlb) +
                          translated(misses.walk_data, misses.walk_chases, latencies.walk);
  // Of `all` lines of code, some follow the line before.
  const auto fetched = [&](std::uint64_t all, std::uint64_t next, unsigned latency) {
    return next * waits.fetched(latency) + (all - next) * waits.whole(latency);
  };
  cycles.of(Cause::front_end) =
      fetches.l2 * waits.fetched(latencies.l2) + fetched(fetches.llc, misses.next_llc, latencies.llc) +
      fetched(fetches.memory, misses.next_memory, latencies.memory) +
      misses.stlb_fetches * waits.fetched(latencies.stlb + waits.hit) + misses.walk_fetches * latencies.walk;
  cycles.of(Cause::heavy) = caches.string_steps;
  cycles.of(Cause::mispredicts) = branches.misses() * latencies.mispredict;
  return cycles;
}

}  // namespace tally::models
