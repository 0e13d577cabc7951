#include "programs/memory/analysis/tails.hpp"

#include <algorithm>
#include <cmath>

#include "programs/memory/statistics/timing_statistics.hpp"

namespace tally::memory {

std::vector<Outlier> outlying(std::span<const double> durations) {
  const double limit = 10 * median({durations.begin(), durations.end()});
  std::vector<Outlier> outliers;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    if (durations[i] > limit) outliers.push_back({static_cast<std::int64_t>(i), durations[i]});
  }
  return outliers;
}

Tails judge_tails(std::span<const Outlier> outliers, double seconds, std::size_t control_events,
                  double control_seconds) {
  Tails tails;
  tails.events = outliers.size();
  std::vector<double> sizes;
  std::vector<double> gaps;
  for (std::size_t i = 0; i < outliers.size(); ++i) {
    sizes.push_back(outliers[i].ns);
    if (i > 0) gaps.push_back(static_cast<double>(outliers[i].write - outliers[i - 1].write));
  }
  tails.median = median(std::move(sizes));
  if (gaps.empty()) return tails;
  const auto [shortest, longest] = std::minmax_element(gaps.begin(), gaps.end());
  tails.shortest_gap = *shortest;
  tails.longest_gap = *longest;
  const auto n = static_cast<double>(gaps.size());
  for (const double gap : gaps) tails.mean_gap += gap / n;
  double squares = 0;
  for (const double gap : gaps) squares += (gap - tails.mean_gap) * (gap - tails.mean_gap);
  tails.variation = gaps.size() > 1 ? std::sqrt(squares / (n - 1)) / tails.mean_gap : 0;
  constexpr std::size_t fewest_gaps = 8;
  tails.periodic = gaps.size() >= fewest_gaps && tails.variation < 0.35;
  if (seconds > 0 && control_seconds > 0) {
    const double rate = static_cast<double>(tails.events) / seconds;
    const double control = static_cast<double>(control_events) / control_seconds;
    tails.periodic = tails.periodic && rate > 1.5 * control;
  }
  return tails;
}

}  // namespace tally::memory
