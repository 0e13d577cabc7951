#include "tally/memory/analysis/points.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/memory/analysis/random.hpp"
#include "tally/memory/analysis/statistics.hpp"

namespace tally::memory {
namespace {

using Batches = std::vector<const std::vector<double>*>;

std::vector<double> resampled_medians(const Batches& mappings) {
  constexpr int draws = 200;
  Random random(1);
  std::vector<double> results;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> medians;
    for (std::size_t i = 0; i < mappings.size(); ++i) {
      const std::vector<double>& batches = *mappings[random.uniform(0, mappings.size() - 1)];
      std::vector<double> drawn;
      for (std::size_t k = 0; k < batches.size(); ++k) drawn.push_back(batches[random.uniform(0, batches.size() - 1)]);
      medians.push_back(median(std::move(drawn)));
    }
    results.push_back(median(std::move(medians)));
  }
  return results;
}

std::vector<std::string> flags_of(const PointSummary& point, const std::vector<double>& medians) {
  std::vector<std::string> flags;
  const std::int64_t tried = point.batches + point.rejected;
  if (point.rejected * 4 > tried) flags.push_back(fmt::format("{} of {} batches rejected", point.rejected, tried));
  if (point.ns_min && point.ns > 1.25 * *point.ns_min) flags.emplace_back("median over 1.25 times the fastest laps");
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  if (*most > 1.2 * *least) {
    flags.push_back(fmt::format("mappings differ by {:.0f} %", (*most / *least - 1) * 100));
  }
  return flags;
}

}  // namespace

PointSummary summarize_point(const std::vector<MappingSample>& mappings) {
  PointSummary point;
  Batches sound;
  std::vector<double> medians;
  std::vector<double> ghz;
  for (const MappingSample& mapping : mappings) {
    point.batches += static_cast<std::int64_t>(mapping.ns.size());
    point.rejected += mapping.rejected;
    point.reference_ns = std::max(point.reference_ns, mapping.reference_ns);
    if (mapping.ns.empty()) continue;
    sound.push_back(&mapping.ns);
    medians.push_back(median(mapping.ns));
    ghz.push_back(mapping.ghz);
    if (!mapping.whole_laps) continue;
    const double least = *std::min_element(mapping.ns.begin(), mapping.ns.end());
    point.ns_min = std::min(point.ns_min.value_or(least), least);
  }
  if (sound.empty()) {
    point.flags.push_back(fmt::format("all {} batches rejected", point.rejected));
    return point;
  }
  point.ns = median(medians);
  point.cycles = point.ns * median(ghz);
  const auto drawn = resampled_medians(sound);
  point.ns_low = quantile(drawn, 0.025);
  point.ns_high = quantile(drawn, 0.975);
  point.flags = flags_of(point, medians);
  return point;
}

std::string reference_flag(const PointSummary& point, double best_reference_ns) {
  if (point.reference_ns <= 1.05 * best_reference_ns) return {};
  return fmt::format("reference ring {:.0f} % slower than the run's best",
                     (point.reference_ns / best_reference_ns - 1) * 100);
}

std::string neighbour_flag(double before_ns, double ns, double after_ns) {
  if (ns <= 1.5 * before_ns || ns <= 1.5 * after_ns) return {};
  return fmt::format("{:.1f} ns between {:.1f} and {:.1f}", ns, before_ns, after_ns);
}

RunVerdict judge_run(std::size_t points, std::size_t flagged, const std::vector<double>& references) {
  RunVerdict verdict;
  if (points == 0) return {true, 0, "nothing was measured"};
  if (!references.empty()) {
    const double best = *std::min_element(references.begin(), references.end());
    verdict.reference_moved_percent = (median(references) / best - 1) * 100;
  }
  if (flagged * 10 > points) {
    verdict.contended = true;
    verdict.why = fmt::format("{} of {} points flagged", flagged, points);
  } else if (verdict.reference_moved_percent > 10) {
    verdict.contended = true;
    verdict.why = fmt::format("the L1 reference ring moved by {:.0f} %", verdict.reference_moved_percent);
  }
  return verdict;
}

}  // namespace tally::memory
