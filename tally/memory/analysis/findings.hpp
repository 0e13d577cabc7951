// From plateaus and rises to the levels of a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/memory/analysis/geometry.hpp"
#include "tally/memory/analysis/levels.hpp"
#include "tally/result/memory.hpp"

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

/// Joins the plateaus whose rise is not one of a cache: `is_cache_rise[i]` is about the one behind plateau i.
std::vector<LevelSpan> join_spans(const std::vector<Plateau>& plateaus, const std::vector<bool>& is_cache_rise);

/// What is known beside the curve.
struct Witnesses {
  std::vector<KnownCache> reported;
  std::optional<Geometry> first_level;      ///< from the map of lines × stride
  std::optional<std::uint64_t> line_bytes;  ///< from pairs of words
  std::optional<double> ghz;
  double page_bytes = 4096;
  double rejected_share = 0;  ///< of all batches
  /// Sizes above this one are not to be relied on; nothing where all are.
  std::optional<double> sound_up_to;
};

/// The levels of a curve, with capacity, latency, grade and the reason for it. Capacities that end above what is sound
/// are left out.
std::vector<result::MemoryLevel> find_levels(const Curve& curve, const std::vector<LevelSpan>& spans,
                                             const Witnesses& witnesses);

/// The largest size up to which at most a tenth of the points is flagged; nothing where that is so of all.
std::optional<double> sound_limit(const Curve& curve);

}  // namespace tally::memory
