#include "tally/memory/analysis/dismissal.hpp"

namespace tally::memory {

bool rises(const StepWalk& walk) { return walk.above_ns >= 1.10 * walk.below_ns; }

bool goes_away_by_page(const StepWalk& by_page, double plateau_ns) {
  return !rises(by_page) && by_page.above_ns < 1.25 * plateau_ns;
}

}  // namespace tally::memory
