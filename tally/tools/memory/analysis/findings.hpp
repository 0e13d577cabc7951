// From plateaus and rises to the levels of a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/analysis/geometry.hpp"
#include "tally/tools/memory/analysis/levels.hpp"
#include "tally/tools/memory/analysis/spans.hpp"

namespace tally::memory {

/// What is known beside the curve.
struct Witnesses {
  std::vector<KnownCache> reported;
  std::optional<Geometry> first_level;      ///< from the map of lines × stride
  std::optional<std::uint64_t> line_bytes;  ///< from pairs of words
  std::optional<double> ghz;
  double page_bytes = 4096;
  FirstTranslations translations{};
  std::vector<Capacity> scattered{};  ///< of rings whose lines lie anywhere, where a rise of the curve slopes
  double waited_share = 0;            ///< of the time, for the processor
  std::string suggested_options{};    ///< options that would show more, as suggested_options() has them
  std::string cut_short{};            ///< why the curve ends before it should; empty where it does not
};

/// What a curve of rings says whose lines lie anywhere in a larger region: the capacity at its first rise that is more
/// than a slope, and calm. Nothing where it has none.
std::optional<Capacity> find_scattered(const Curve& curve);

/// The levels of a curve, with capacity, latency, grade and the reason for it. What the machine was too busy for is
/// left out of a level, which is contended then; so is a cache that the system reports and that may lie where the curve
/// is not to be believed. A reported cache whose end the curve does not show has a row that says so.
std::vector<result::MemoryLevel> find_levels(const Curve& curve, const std::vector<LevelSpan>& spans,
                                             const Witnesses& witnesses);

/// Whether the machine was too busy for a report: for some level, or for more than half of the points, or others had
/// the processor for too long. `why` names what is contended and what is calm.
struct LevelsVerdict {
  bool contended = false;
  std::string why;
};
LevelsVerdict judge_levels(const Curve& curve, const std::vector<result::MemoryLevel>& levels, double waited_share = 0);

}  // namespace tally::memory
