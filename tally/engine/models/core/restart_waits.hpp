// How long mispredicted branches, and the code after them, wait for lines that missed the first level.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/hierarchy.hpp"

namespace tally::models {

/// Loads that miss the first level and decide a branch (MissCounts::deciding_l2 and more), by the level that serves
/// them, and their translations; or cycles for each of them.
struct MissedLoads {
  std::uint64_t l2 = 0, llc = 0, memory = 0, stlb = 0, walk = 0;
  std::uint64_t code = 0;  ///< lines of code from L2

  MissedLoads operator-(const MissedLoads& other) const {
    return {l2 - other.l2,     llc - other.llc,   memory - other.memory,
            stlb - other.stlb, walk - other.walk, code - other.code};
  }
  void add(const MissedLoads& other) {
    l2 += other.l2, llc += other.llc, memory += other.memory, stlb += other.stlb, walk += other.walk;
    code += other.code;
  }
};

inline MissedLoads missed_loads(const HierarchyCounts& caches) {
  const MissCounts& misses = caches.misses;
  const LevelCounts& l2 = caches.l2;
  return {misses.deciding_l2,   misses.deciding_llc,  misses.deciding_memory,
          misses.deciding_stlb, misses.deciding_walk, l2.fetches > l2.fetch_misses ? l2.fetches - l2.fetch_misses : 0};
}

/// Returns the cycles that mispredicted branches wait for loads, in addition to what the loads cost when they overlap.
/// `exposed`: these cycles for each kind of load. A load is near a misprediction if at most `rob` instructions are in
/// between. Every second one of these is taken to decide the mispredicted branch, a declared value; of the loads before
/// a branch it waits for one, because they overlap. The first line of code that comes from L2 after a misprediction is
/// fetched for its whole latency, if it is among the next 64 instructions, a declared value: until then the front end
/// is not ahead of the core.
inline std::uint64_t cycles_before_restarts(const MissedLoads& loads, const MissedLoads& exposed,
                                            std::uint64_t mispredictions, std::uint64_t instructions,
                                            std::uint64_t rob) {
  constexpr unsigned part_bits = 16, one_of = 2, fetched_ahead = 64;
  const std::uint64_t all = loads.l2 + loads.llc + loads.memory;
  if (instructions == 0) return 0;
  const std::uint64_t missed = fetched_ahead * loads.code;
  const std::uint64_t first = missed < instructions ? (missed << part_bits) / instructions : 1U << part_bits;
  const std::uint64_t fetching = (mispredictions * first >> part_bits) * exposed.code;
  if (all == 0) return fetching;
  const std::uint64_t reached = rob * mispredictions;
  const std::uint64_t near = reached < instructions ? (reached << part_bits) / instructions : 1U << part_bits;
  const std::uint64_t most = (mispredictions << part_bits) / all;
  const std::uint64_t waiting = near / one_of < most ? near / one_of : most;
  const std::uint64_t cycles = loads.l2 * exposed.l2 + loads.llc * exposed.llc + loads.memory * exposed.memory +
                               loads.stlb * exposed.stlb + loads.walk * exposed.walk;
  return fetching + (cycles * waiting >> part_bits);
}

}  // namespace tally::models
