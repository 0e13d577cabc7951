// What a series of repeated counts says: the median with its order-statistic interval. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/count.hpp"

namespace tally {

/// The fewest repetitions whose extremes cover the median in 95 % of cases: 1 − 2·(1/2)^6 = 96.9 %, and 93.8 % for 5.
constexpr std::size_t fewest_for_interval = 6;

/// Two ranks (1 is the smallest value) between which the true median lies, and how surely.
struct RankInterval {
  std::size_t low = 0;
  std::size_t high = 0;
  double coverage = 0;  ///< probability, at least 0.95
  bool operator==(const RankInterval&) const = default;
};

/// The narrowest symmetric interval of ranks that covers the median with at least 95 % probability, whatever the
/// distribution: [j, n+1−j] with the largest j for which 1 − 2·P(Bin(n, 1/2) ≤ j−1) ≥ 0.95. Nothing for n ≤ 5.
std::optional<RankInterval> median_ranks(std::size_t n);

/// A series of values of type T in short.
template <class T>
struct SummaryOf {
  std::size_t n = 0;               ///< values in the series
  std::optional<double> median;    ///< the middle one, or the mean of the two middle ones
  std::optional<T> low, high;      ///< the interval of the median; nothing for n ≤ 5
  std::optional<double> coverage;  ///< how surely the true median lies in it
  std::optional<T> min, max;
  Trust trust = Trust::absent;  ///< the worst of the series
  std::string reason;           ///< why there is no median, or no interval, or what the trust lacks
  bool operator==(const SummaryOf&) const = default;
};
using Summary = SummaryOf<std::int64_t>;
using RatioSummary = SummaryOf<double>;

/// The series in short. One absent count makes it absent: leaving it out would be a silent choice. Cost: a sort.
Summary summarize(const std::vector<Count>& series);

/// The count that stands for a whole series: the median, a whole number even where it lies between two.
Count median_count(const Summary& summary, const std::vector<Count>& series);

/// The same of ratios.
RatioSummary summarize_ratios(const std::vector<Ratio>& series);

}  // namespace tally
