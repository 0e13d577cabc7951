// Ranges of a curve that form one level, and whether a busy machine spoiled them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "programs/memory/analysis/levels.hpp"

namespace tally::memory {

/// One cache that the system reports.
struct KnownCache {
  int level = 0;
  std::int64_t bytes = 0;
  bool shared = false;  ///< with other cores
};

/// A range of the curve that is one level: one plateau, or several with only translation buffers between them.
struct LevelSpan {
  Plateau first;  ///< its latency is the level's
  Plateau last;   ///< the rise to the next level begins here
};

/// Joins plateaus whose rise is not that of a cache; `is_cache_rise[i]` belongs to the rise after plateau i.
std::vector<LevelSpan> join_spans(const std::vector<Plateau>& plateaus, const std::vector<bool>& is_cache_rise);

/// Statistics of a range of points, both ends included.
struct PointStatistics {
  std::size_t points = 0;
  std::size_t flagged = 0;
  std::string why;          ///< of most flagged points
  double hole_octaves = 0;  ///< the largest gap between neighbouring sound points
  double quiet_share = 1;   ///< of the median point
  double rejected_share = 0;
};

PointStatistics measure_range(const Curve& curve, std::size_t first, std::size_t last);

/// Why the latency of a span is unreliable: more than a quarter of its points are flagged. Empty if it is reliable.
std::string contention_of(const Curve& curve, const LevelSpan& span);

/// Why the size at which one span ends and the next begins is unreliable: more than half of the points between them are
/// flagged, or a run of flagged points is wide enough to hide a level. Empty if it is reliable.
std::string contention_between(const Curve& curve, const LevelSpan& span, const LevelSpan& next);

/// Why the curve after the last span is unreliable: it ends with a run of flagged points that is wide enough to hide a
/// level. Empty if it is reliable, or if memory was reached.
std::string contention_above(const Curve& curve, const LevelSpan& span, const std::vector<KnownCache>& reported);

/// Why most flagged points of a curve were flagged; empty if none is.
std::string cause_of(const Curve& curve);

}  // namespace tally::memory
