// The cycles that misses add to those of the core.
#pragma once

#include <cstdint>

#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"
#include "tally/engine/models/core/causes.hpp"

namespace tally::models {

/// Latencies that the core model excludes: cycles from a load to its use by the level that serves it, and cycles lost
/// by a misprediction.
struct Latencies {
  std::uint16_t l2 = 0, llc = 0, memory = 0;
  /// Cycles between two lines that arrive from a level, at best.
  std::uint16_t l2_line = 0, llc_line = 0, memory_line = 0;
  std::uint16_t memory_parallel = 0;  ///< lines on their way from memory at a time; 0: LoadWaits::parallel
  std::uint16_t stlb = 0,
                walk = 0;  ///< added by a translation that hits in the second level, and by one that misses
  std::uint16_t mispredict = 0;
  CrowdTimes crowd = {};
  bool operator==(const Latencies&) const = default;
};

/// How long a core waits for a load.
struct LoadWaits {
  /// The number of misses under way at a time, of loads that do not depend on each other. A declared value: with the
  /// latencies of a Granite Rapids it charges 158 cycles for a miss of L2, where a fit to 13 programs has 120. Some
  /// machines have another for memory.
  static constexpr unsigned parallel = 4;
  /// The number of lines of code that the front end fetches at a time along predicted branches: on a Zen 5 (2026-11-30)
  /// a line from L2 adds 2 cycles to jumps and calls, and 3 to code without branches.
  static constexpr unsigned parallel_fetches = 5;

  /// Cycles for which a busy load works on a line, at least: scalar sums and products of matrices on a Zen 5
  /// take 8 and 5.
  static constexpr unsigned busy = 5;

  unsigned hit = 0;   ///< cycles of a load that hits in L1, which the core model includes
  unsigned lead = 0;  ///< cycles by which later instructions may be done before a load; 0: in order, nothing overlaps

  /// Returns the cycles added by a miss that nothing hides.
  unsigned whole(unsigned latency) const { return latency > hit ? latency - hit : 0; }
  /// Returns the cycles added by a line of code, or its translation, from the second level.
  unsigned fetched(unsigned latency) const {
    return lead == 0 ? whole(latency) : (whole(latency) + parallel_fetches / 2) / parallel_fetches;
  }
  /// Returns the cycles added by a miss of memory that others hide.
  unsigned shared_memory(const Latencies& latencies) const {
    return shared(latencies.memory, latencies.memory_parallel != 0 ? latencies.memory_parallel : parallel);
  }
  /// Returns the cycles added by a miss that other instructions and other misses hide.
  unsigned shared(unsigned latency, unsigned at_a_time = parallel) const {
    if (lead == 0) return whole(latency);
    const unsigned left = whole(latency) > lead ? whole(latency) - lead : 0;
    return (left + at_a_time / 2) / at_a_time;
  }
};

/// Returns the cycles that misses of loads and fetches add to those of the core, by cause. Fetches
/// from L2 overlap, and those of the next line of code; others from later levels, and chases (is_chase()), wait for the
/// whole latency; other loads for what
/// is left of it, but at least for the time of a line; loads of streams for that time less a cycle, in which the core
/// works on the line, and busy ones for what their work leaves of it. Other stores wait for the translation of their
/// pages, and for two thirds of the time of a line in the last level or in memory: other work hides the rest. Repeated
/// string instructions take a cycle for each step. Models that were not run have zero counts and add nothing. The
/// result is a sum of the counts, each with a weight that `shape` and the latencies determine, so the cycles of parts
/// of a run add up to those of the whole.
CycleTimes miss_cycles(const Latencies& latencies, const LoadWaits& waits, const HierarchyShape& shape,
                       const HierarchyCounts& caches, const BranchCounts& branches);

}  // namespace tally::models
