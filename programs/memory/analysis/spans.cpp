#include "programs/memory/analysis/spans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

std::string contended_text(const Curve& curve, const PointStatistics& range, std::size_t first, std::size_t last) {
  return fmt::format("{} of {} sizes from {} to {}{}{}", range.flagged, range.points,
                     size_text(curve[first].size_bytes), size_text(curve[last].size_bytes),
                     range.why.empty() ? "" : ": ", range.why);
}

}  // namespace

std::vector<LevelSpan> join_spans(const std::vector<Plateau>& plateaus, const std::vector<bool>& is_cache_rise) {
  std::vector<LevelSpan> spans;
  for (std::size_t i = 0; i < plateaus.size(); ++i) {
    if (i == 0 || is_cache_rise[i - 1]) {
      spans.push_back({plateaus[i], plateaus[i]});
    } else {
      spans.back().last = plateaus[i];
    }
  }
  return spans;
}

PointStatistics measure_range(const Curve& curve, std::size_t first, std::size_t last) {
  PointStatistics range;
  std::map<std::string, int> reasons;
  int most = 0;
  std::vector<double> quiet;
  std::vector<double> rejected;
  double sound_bytes = curve[first].size_bytes;
  for (std::size_t i = first; i <= last; ++i) {
    const CurvePoint& point = curve[i];
    ++range.points;
    if (point.flagged) {
      ++range.flagged;
      const int times = ++reasons[point.why];
      if (times > most) {
        most = times;
        range.why = point.why;
      }
      continue;
    }
    range.hole_octaves = std::max(range.hole_octaves, std::log2(point.size_bytes / sound_bytes));
    sound_bytes = point.size_bytes;
    quiet.push_back(point.quiet_share);
    rejected.push_back(point.rejected_share);
  }
  if (!quiet.empty()) range.quiet_share = median(std::move(quiet));
  range.rejected_share = median(std::move(rejected));
  return range;
}

std::string contention_of(const Curve& curve, const LevelSpan& span) {
  const std::size_t first = span.first.first;
  const std::size_t last = span.last.last;
  const PointStatistics range = measure_range(curve, first, last);
  return range.flagged * 4 > range.points ? contended_text(curve, range, first, last) : std::string();
}

std::string contention_between(const Curve& curve, const LevelSpan& span, const LevelSpan& next) {
  // The minimum length of a plateau.
  constexpr double hiding_octaves = 0.75;
  const std::size_t first = span.last.last;
  const std::size_t last = next.first.first;
  const PointStatistics range = measure_range(curve, first, last);
  const bool hole = range.flagged > 0 && range.hole_octaves >= hiding_octaves;
  // In a shorter range the interval of the capacity covers the uncertainty.
  const bool rough =
      std::log2(curve[last].size_bytes / curve[first].size_bytes) >= hiding_octaves && range.flagged * 2 > range.points;
  return hole || rough ? contended_text(curve, range, first, last) : std::string();
}

std::string contention_above(const Curve& curve, const LevelSpan& span, const std::vector<KnownCache>& reported) {
  constexpr double hiding_octaves = 0.75;
  const std::size_t last = curve.size() - 1;
  if (reported.empty() || curve[span.last.last].size_bytes >= 2 * static_cast<double>(reported.back().bytes)) return {};
  std::size_t sound = last;
  while (curve[sound].flagged && sound > span.last.last) --sound;
  if (std::log2(curve[last].size_bytes / curve[sound].size_bytes) < hiding_octaves) return {};
  return contended_text(curve, measure_range(curve, sound + 1, last), sound + 1, last);
}

std::string cause_of(const Curve& curve) {
  return curve.empty() ? std::string() : measure_range(curve, 0, curve.size() - 1).why;
}

}  // namespace tally::memory
