#include "programs/memory/analysis/unseen.hpp"

#include <fmt/format.h>

#include <cmath>

#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/analysis/slopes.hpp"
#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

// A capacity belongs to a reported cache within this factor, as in find_levels().
constexpr double nearby = 1.6;

struct NearbyPoints {
  int points = 0;
  int flagged = 0;
};

NearbyPoints points_near(const Curve& curve, double bytes) {
  NearbyPoints around;
  for (const CurvePoint& point : curve) {
    if (point.size_bytes < bytes / nearby || point.size_bytes > bytes * nearby) continue;
    ++around.points;
    if (point.flagged) ++around.flagged;
  }
  return around;
}

// Describes the plateaus on both sides of a size, or the last one if nothing flat follows.
std::string between_plateaus(const Curve& curve, const std::vector<LevelSpan>& spans, double bytes) {
  const auto end_of = [&](const LevelSpan& span) { return curve[span.last.last].size_bytes; };
  const auto start_of = [&](const LevelSpan& span) { return curve[span.first.first].size_bytes; };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const LevelSpan& span = spans[i];
    const bool is_last = i + 1 == spans.size();
    if (bytes < end_of(span)) {
      return fmt::format("no step near it: {:.3g} ns from {} to {}", span.first.ns, size_text(start_of(span)),
                         size_text(end_of(span)));
    }
    if (is_last) return fmt::format("the latency rises from {} on and is never constant", size_text(end_of(span)));
    if (bytes < start_of(spans[i + 1])) {
      return fmt::format("the latency rises from {:.3g} ns at {} to {:.3g} at {} without a plateau in between",
                         span.last.ns, size_text(end_of(span)), spans[i + 1].first.ns,
                         size_text(start_of(spans[i + 1])));
    }
  }
  return "no part of the curve is flat";
}

}  // namespace

std::string how_to_extend_curve(const Curve& curve, const Witnesses& witnesses) {
  if (!witnesses.cut_short.empty()) return witnesses.cut_short;
  const double largest = witnesses.reported.empty() ? 0 : static_cast<double>(witnesses.reported.back().bytes);
  const double end = curve.empty() ? 0 : curve.back().size_bytes;
  return fmt::format("extend it with --to {:.0f}M", std::ceil(4 * (end < 4 * largest ? largest : end) / (1 << 20)));
}

std::string why_unseen(const Curve& curve, const std::vector<LevelSpan>& spans, const KnownCache& cache,
                       const Witnesses& witnesses) {
  const auto bytes = static_cast<double>(cache.bytes);
  if (curve.empty() || bytes >= curve.back().size_bytes) {
    const std::string end = curve.empty() ? "0" : size_text(curve.back().size_bytes);
    return fmt::format("the curve ends at {}, before this level does; {}", end, how_to_extend_curve(curve, witnesses));
  }
  if (bytes < curve.front().size_bytes) {
    return fmt::format("the curve begins at {}, above this level; start lower with --from",
                       size_text(curve.front().size_bytes));
  }
  std::string why = between_plateaus(curve, spans, bytes);
  const NearbyPoints around = points_near(curve, bytes);
  if (around.flagged > 0) why += fmt::format("; {} of {} sizes around it disturbed", around.flagged, around.points);
  // A curve that ends shortly after a level is too short for the plateau that would follow.
  const bool is_last = spans.empty() || bytes >= curve[spans.back().last.last].size_bytes;
  if (is_last && curve.back().size_bytes < 4 * bytes) return why + "; " + how_to_extend_curve(curve, witnesses);
  return witnesses.suggested_options.empty() ? why : why + "; " + witnesses.suggested_options + " measures more often";
}

const KnownCache* holder_of(const Curve& curve, const Plateau& plateau, const Witnesses& witnesses, std::size_t from,
                            std::size_t until) {
  const double middle = middle_bytes(curve, plateau);
  const bool is_cache = plateau.ns < witnesses.least_memory_ns || !is_slope(plateau.ns, curve.back().ns);
  for (std::size_t i = from; i < until; ++i) {
    const KnownCache& cache = witnesses.reported[i];
    if ((is_cache || !cache.shared) && static_cast<double>(cache.bytes) >= middle) return &cache;
  }
  return nullptr;
}

}  // namespace tally::memory
