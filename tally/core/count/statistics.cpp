#include "tally/core/count/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tally {

std::optional<RankInterval> median_ranks(std::size_t n) {
  constexpr double least_coverage = 0.95;
  const double size = static_cast<double>(n);
  std::optional<RankInterval> best;
  double below = 0;  // P(Bin(n, 1/2) ≤ j−1)
  for (std::size_t j = 1; j <= n / 2; ++j) {
    const double k = static_cast<double>(j - 1);
    // Uses logarithms because 2^-n underflows beyond n = 1074.
    below += std::exp(std::lgamma(size + 1) - std::lgamma(k + 1) - std::lgamma(size - k + 1) - size * std::log(2.0));
    const double coverage = 1 - 2 * below;
    if (coverage < least_coverage) break;
    best = RankInterval{j, n + 1 - j, coverage};
  }
  return best;
}

namespace {

// For counts and ratios: both have a value, a trust and a reason.
template <class T, class Series>
SummaryOf<T> in_short(const Series& series) {
  SummaryOf<T> summary;
  summary.n = series.size();
  if (series.empty()) {
    summary.reason = "no run was completed";
    return summary;
  }
  std::vector<T> values;
  summary.trust = Trust::exact;
  for (const auto& one : series) {
    summary.trust = worst(summary.trust, one.trust);
    if (summary.reason.empty() || !one.value) summary.reason = one.reason;
    if (!one.value) return summary;
    values.push_back(*one.value);
  }
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const T upper = values[n / 2];
  const T lower = values[(n - 1) / 2];
  // Halves the distance first, so that two large values do not overflow.
  summary.median = static_cast<double>(lower) + static_cast<double>(upper - lower) / 2;
  summary.min = values.front();
  summary.max = values.back();
  if (const auto ranks = median_ranks(n)) {
    summary.low = values[ranks->low - 1];
    summary.high = values[ranks->high - 1];
    summary.coverage = ranks->coverage;
  } else {
    const std::string why =
        fmt::format("{} runs are too few for an interval of the median: it needs {}", n, fewest_for_interval);
    summary.reason = summary.reason.empty() ? why : summary.reason + "; " + why;
  }
  return summary;
}

}  // namespace

Summary summarize(const std::vector<Count>& series) { return in_short<std::int64_t>(series); }

namespace {

/// Of the runs with the series' trust, the one nearest to the median: the numbers in its reason fit the median. Never
/// null if there is a median.
const Count* typical(const Summary& summary, const std::vector<Count>& series) {
  const Count* found = nullptr;
  const auto distance = [&](const Count& count) {
    return std::abs(static_cast<double>(*count.value) - *summary.median);
  };
  for (const Count& one : series) {
    if (one.trust == summary.trust && (found == nullptr || distance(one) < distance(*found))) found = &one;
  }
  return found;
}

}  // namespace

Count median_count(const Summary& summary, const std::vector<Count>& series) {
  Count count;
  count.trust = summary.trust;
  count.reason = summary.reason;
  if (!series.empty()) {
    count.source = series.front().source;
    count.model = series.front().model;
    if (summary.median) count.reason = typical(summary, series)->reason;
  }
  if (summary.median) count.value = static_cast<std::int64_t>(std::floor(*summary.median));
  return count;
}

RatioSummary summarize_ratios(const std::vector<Ratio>& series) { return in_short<double>(series); }

}  // namespace tally
