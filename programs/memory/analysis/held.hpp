// Detects that other programs fill the shared last-level cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/memory/analysis/findings.hpp"
#include "programs/memory/analysis/points.hpp"

namespace tally::memory {

/// A ring that fits the shared last level, and the share of its loads that memory served.
struct HeldSize {
  std::uint64_t bytes = 0;
  double share = 0;  ///< of single loads: those that took at least 0.6 of a load from memory
};

/// Sizes that only the shared last level can hold: above twice the last private cache (beyond its own misses), up to
/// half of the shared one (before its own misses begin). {0, 0} if no shared last level is reported.
struct HeldRange {
  std::uint64_t above_bytes = 0;
  std::uint64_t last_bytes = 0;
  bool holds(std::uint64_t bytes) const { return bytes > above_bytes && bytes <= last_bytes; }
};
HeldRange held_range(const std::vector<KnownCache>& reported);

inline bool is_held(const HeldSize& size) { return size.share > too_much_from_memory; }

/// The verdict itself if it is contended already; otherwise contended if is_held() for more than 10 % of the points.
RunVerdict judge_held(RunVerdict verdict, const std::vector<HeldSize>& sizes, std::size_t points);

/// A sentence about the sizes for which is_held(); empty if there is none. `memory_ns`: the time from which a load
/// counts as served by memory.
std::optional<std::string> held_finding(const std::vector<HeldSize>& sizes, const std::vector<KnownCache>& reported,
                                        double memory_ns);

/// Grades a capacity low if it is above a size whose loads memory partly served, because other programs leave only that
/// much; adds the reason.
void describe_held(const std::vector<HeldSize>& sizes, std::vector<result::MemoryLevel>& levels);

}  // namespace tally::memory
