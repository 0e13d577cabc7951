#include "tally/core/stats/proportion.hpp"

#include <algorithm>
#include <cmath>

namespace tally {

ShareInterval share_interval(double share, double samples, double deviations) {
  if (samples <= 0) return {};
  const double by_n = deviations * deviations / samples;
  const double middle = share + by_n / 2;
  const double half = deviations * std::sqrt(std::max(0.0, share * (1 - share) / samples + by_n / (4 * samples)));
  return {std::max(0.0, (middle - half) / (1 + by_n)), std::min(1.0, (middle + half) / (1 + by_n))};
}

Estimate difference(const Estimate& after, const Estimate& before) {
  const double by = after.value - before.value;
  return {by, by - std::hypot(after.value - after.low, before.high - before.value),
          by + std::hypot(after.high - after.value, before.value - before.low)};
}

}  // namespace tally
