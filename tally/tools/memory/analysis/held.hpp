// A shared last level that others fill.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/tools/memory/analysis/findings.hpp"
#include "tally/tools/memory/analysis/points.hpp"

namespace tally::memory {

/// A ring that the shared last level is large enough for, and how many of its loads memory served.
struct HeldSize {
  std::uint64_t bytes = 0;
  double share = 0;  ///< of its loads, one at a time: those that took 0.6 of a load of memory or more
};

/// Sizes that only the shared last level holds: above twice the last cache of one core alone (where that one's own
/// misses are over), up to half of the shared one (where its own have not begun). {0, 0} where none is reported.
struct HeldRange {
  std::uint64_t above_bytes = 0;
  std::uint64_t last_bytes = 0;
  bool holds(std::uint64_t bytes) const { return bytes > above_bytes && bytes <= last_bytes; }
};
HeldRange held_range(const std::vector<KnownCache>& reported);

inline bool is_held(const HeldSize& size) { return size.share > too_much_from_memory; }

/// The same verdict, or where it is none: contended, where more than 10 % of the points are held.
RunVerdict judge_held(RunVerdict verdict, const std::vector<HeldSize>& sizes, std::size_t points);

/// What that says of a curve, in a sentence; nothing where no size is held. `memory_ns`: from which time on a load
/// counts as one of memory.
std::optional<std::string> held_finding(const std::vector<HeldSize>& sizes, const std::vector<KnownCache>& reported,
                                        double memory_ns);

/// A capacity beyond a size that memory served a part of is what others leave now: it is graded low, and says so.
void describe_held(const std::vector<HeldSize>& sizes, std::vector<result::MemoryLevel>& levels);

}  // namespace tally::memory
