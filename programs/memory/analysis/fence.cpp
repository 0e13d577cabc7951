#include "programs/memory/analysis/fence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "programs/memory/statistics/timing_statistics.hpp"

namespace tally::memory {
namespace {

constexpr double bytes_per_line = 64;

// Whether the residuals of a straight line split into two halves that differ by more than the noise of each. Each side
// has a slope of its own, so a bend alone is not a step.
bool has_step(const std::vector<double>& lines, const std::vector<double>& ns) {
  constexpr std::size_t least = 3;
  for (std::size_t cut = least; cut + least <= lines.size(); ++cut) {
    const std::span<const double> x(lines);
    const std::span<const double> y(ns);
    const Line before = fit_line(x.first(cut), y.first(cut));
    const Line after = fit_line(x.subspan(cut), y.subspan(cut));
    std::vector<double> residuals;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Line& side = i < cut ? before : after;
      residuals.push_back(std::abs(ns[i] - side.intercept - side.slope * lines[i]));
    }
    const double at = (lines[cut - 1] + lines[cut]) / 2;
    const double step = after.intercept + after.slope * at - before.intercept - before.slope * at;
    // A step smaller than the issue time of a few lines is rounding.
    const double noise = std::max(3 * 1.4826 * median(std::move(residuals)), 0.02 * ns.back());
    if (step > noise + 2 * std::abs(before.slope)) return true;
  }
  return false;
}

}  // namespace

FenceFit fit_fence(std::span<const SizeTime> small, std::span<const SizeTime> large) {
  std::vector<double> lines;
  std::vector<double> ns;
  for (const SizeTime& one : small) {
    lines.push_back(one.size_bytes / bytes_per_line);
    ns.push_back(one.ns * one.size_bytes / bytes_per_line);
  }
  const Line line = fit_line(lines, ns);
  FenceFit fit{line.intercept, line.slope, line.slope, 0, has_step(lines, ns)};
  std::vector<double> floor;
  for (const SizeTime& one : large) floor.push_back(one.ns);
  if (!floor.empty()) fit.floor_ns = median(std::move(floor));
  if (fit.floor_ns > 1.05 * fit.line_ns) {
    fit.crossing_bytes = bytes_per_line * fit.fence_ns / (fit.floor_ns - fit.line_ns);
  }
  return fit;
}

}  // namespace tally::memory
