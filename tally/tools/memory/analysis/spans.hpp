// Stretches of a curve that are one level, and whether they can be believed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/tools/memory/analysis/levels.hpp"

namespace tally::memory {

/// One cache as the system reports it.
struct KnownCache {
  int level = 0;
  std::int64_t bytes = 0;
  bool shared = false;  ///< with other cores
};

/// A stretch of the curve that is one level: one plateau, or several between which only translation buffers lie.
struct LevelSpan {
  Plateau first;  ///< its latency is the level's
  Plateau last;   ///< where the rise to the next level begins
};

/// Joins the plateaus whose rise is not one of a cache: `is_cache_rise[i]` is about the one after plateau i.
std::vector<LevelSpan> join_spans(const std::vector<Plateau>& plateaus, const std::vector<bool>& is_cache_rise);

/// The points from one index to another, both included, in short.
struct Stretch {
  std::size_t points = 0;
  std::size_t flagged = 0;
  std::string why;          ///< of most of the flagged ones
  double hole_octaves = 0;  ///< the widest distance from one sound point to the next
  double quiet_share = 1;   ///< the median point's
  double rejected_share = 0;
};

Stretch measure_range(const Curve& curve, std::size_t first, std::size_t last);

/// Why the latency of a span cannot be believed: more than a quarter of its points are flagged. Empty where it can.
std::string contention_of(const Curve& curve, const LevelSpan& span);

/// Why the size at which one span ends and the next begins cannot be believed: more than half of the points between
/// them are flagged, or so many in a row that a level could lie hidden among them. Empty where it can.
std::string contention_between(const Curve& curve, const LevelSpan& span, const LevelSpan& next);

/// Why what follows on the last span cannot be believed: the curve ends in so many flagged points that a level could
/// lie hidden among them. Empty where it can, and where memory was reached.
std::string contention_above(const Curve& curve, const LevelSpan& span, const std::vector<KnownCache>& reported);

/// What most of the flagged points of a curve were flagged for; empty where none is.
std::string cause_of(const Curve& curve);

}  // namespace tally::memory
