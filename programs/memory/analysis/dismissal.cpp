#include "programs/memory/analysis/dismissal.hpp"

namespace tally::memory {

bool is_of_prefetchers(const Curve& curve, const Plateau& below, const Plateau& middle, const Plateau& above,
                       double page_bytes) {
  // Half of the loads miss, up to 1.3 times as many of those that miss above.
  constexpr double lowest = 0.35, highest = 0.75;
  const double height = (middle.ns - below.ns) / (above.ns - below.ns);
  if (height < lowest || height > highest) return false;
  // Two levels of the same heights differ from the shape by more than a tenth.
  constexpr double unexplained = 0.05;
  const Fit fit = fit_rise(curve, below, above, page_bytes);
  return brings_neighbours(fit.shape) && fit.error < unexplained;
}

bool rises(const StepWalk& walk) { return walk.above_ns >= 1.10 * walk.below_ns; }

bool goes_away_by_page(const StepWalk& by_page, double plateau_ns) {
  return !rises(by_page) && by_page.above_ns < 1.25 * plateau_ns;
}

}  // namespace tally::memory
