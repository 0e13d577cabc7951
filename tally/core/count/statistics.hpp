// Statistics of a series of repeated counts: the median with its order-statistic interval. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"

namespace tally {

/// The fewest repetitions whose extremes cover the median with 95 % probability: 6 have 1 − 2·(1/2)^6 = 96.9 %, 5 have
/// 93.8 %.
constexpr std::size_t fewest_for_interval = 6;

/// Two ranks (1 is the smallest value) that enclose the true median, and with which probability.
struct RankInterval {
  std::size_t low = 0;
  std::size_t high = 0;
  double coverage = 0;  ///< probability, at least 0.95
  bool operator==(const RankInterval&) const = default;
};

/// The narrowest symmetric interval of ranks that covers the median with at least 95 % probability, for any
/// distribution: [j, n+1−j] with the largest j for which 1 − 2·P(Bin(n, 1/2) ≤ j−1) ≥ 0.95. None for n ≤ 5.
std::optional<RankInterval> median_ranks(std::size_t n);

/// Summary statistics of a series of values of type T.
template <class T>
struct SummaryOf {
  std::size_t n = 0;               ///< values in the series
  std::optional<double> median;    ///< the middle one, or the mean of the two middle ones
  std::optional<T> low, high;      ///< the interval of the median; absent for n ≤ 5
  std::optional<double> coverage;  ///< probability that it covers the true median
  std::optional<T> min, max;
  Trust trust = Trust::absent;  ///< the worst of the series
  std::string reason;           ///< why there is no median or no interval, or why the trust is low
  bool operator==(const SummaryOf&) const = default;
};
using Summary = SummaryOf<std::int64_t>;
using RatioSummary = SummaryOf<double>;

/// Summarizes a series. Absent if one count is absent: leaving it out would hide that. Cost: a sort.
Summary summarize(const std::vector<Count>& series);

/// The median of a series as a count; rounded down to an integer.
Count median_count(const Summary& summary, const std::vector<Count>& series);

/// The same for ratios.
RatioSummary summarize_ratios(const std::vector<Ratio>& series);

}  // namespace tally
