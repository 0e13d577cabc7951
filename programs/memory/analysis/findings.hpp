// Converts plateaus and rises of a curve to the levels of a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/memory/analysis/geometry.hpp"
#include "programs/memory/analysis/levels.hpp"
#include "programs/memory/analysis/spans.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Other measurements and facts that the findings use.
struct Witnesses {
  std::vector<KnownCache> reported;
  std::optional<Geometry> first_level;      ///< from hit counts by stride
  std::optional<std::uint64_t> line_bytes;  ///< from pairs of words
  std::optional<double> ghz;
  double page_bytes = 4096;
  FirstTranslations translations{};
  std::vector<Capacity> scattered{};  ///< of scattered rings, for rises of the curve that slope
  double waited_share = 0;            ///< share of the time that the thread waited for its processor
  std::string suggested_options{};    ///< options for a more thorough run, from suggested_options()
  std::string cut_short{};            ///< why the curve ends early; empty if it does not
  double least_memory_ns = 0;         ///< 0.6 of what flushed loads take; 0 if unknown
};

/// The capacity from a curve of scattered rings (lines spread over a larger region): that of its first uncontended rise
/// that is steeper than a slope. Empty if there is none.
std::optional<Capacity> find_scattered(const Curve& curve);

/// Joins spans at a rise that no reported cache explains, but the first translation buffer does. The check of each
/// step, which walks it page by page, may miss that while others fill the caches.
std::vector<LevelSpan> join_translations(const Curve& curve, const std::vector<LevelSpan>& spans,
                                         const Witnesses& witnesses);

/// The levels of a curve, with capacity, latency, grade and the reason for the grade. A level that the machine was too
/// busy for is marked contended and lacks the affected values. A reported cache is contended if its end may be in a
/// flagged part of the curve, and otherwise has a row that says why its end is not seen.
std::vector<result::MemoryLevel> find_levels(const Curve& curve, const std::vector<LevelSpan>& spans,
                                             const Witnesses& witnesses);

/// Whether the machine was too busy for a report: a level is contended, more than half of the points are flagged, or
/// the thread waited for its processor too long. `why` names the contended and the measured levels.
struct LevelsVerdict {
  bool contended = false;
  std::string why;
};
LevelsVerdict judge_levels(const Curve& curve, const std::vector<result::MemoryLevel>& levels, double waited_share = 0);

}  // namespace tally::memory
