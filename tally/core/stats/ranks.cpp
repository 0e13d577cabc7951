#include "tally/core/stats/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace tally::stats {
namespace {

constexpr std::size_t exact_limit = 20;

/// Twice the ranks of all values, which are whole numbers also for equal values; twice the sum of those of the first
/// series; and the sum of t³ − t over groups of t equal values.
struct Ranks {
  std::vector<std::size_t> doubled;
  std::size_t doubled_sum = 0;
  double ties = 0;
};

Ranks ranks_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::pair<double, bool>> all;
  for (const double value : a) all.emplace_back(value, true);
  for (const double value : b) all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  Ranks ranks;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].first == all[begin].first) ++end;
    ranks.doubled.insert(ranks.doubled.end(), end - begin, begin + end + 1);
    for (std::size_t i = begin; i < end; ++i) ranks.doubled_sum += all[i].second ? begin + end + 1 : 0;
    const double equal = static_cast<double>(end - begin);
    ranks.ties += equal * equal * equal - equal;
    begin = end;
  }
  return ranks;
}

/// How many choices of n of the ranks have each sum.
std::vector<double> choices_by_sum(const std::vector<std::size_t>& ranks, std::size_t n) {
  const std::size_t most = std::accumulate(ranks.end() - static_cast<std::ptrdiff_t>(n), ranks.end(), std::size_t{0});
  // choices[i][s]: choices of i of the ranks so far whose sum is s.
  std::vector<std::vector<double>> choices(n + 1, std::vector<double>(most + 1, 0));
  choices[0][0] = 1;
  for (const std::size_t rank : ranks)
    for (std::size_t i = n; i > 0; --i)
      for (std::size_t sum = most; sum >= rank; --sum) choices[i][sum] += choices[i - 1][sum - rank];
  return std::move(choices[n]);
}

/// The share of all choices of n of the ranks whose sum is at least as far from the mean as that of the first series.
double share_as_far(const Ranks& ranks, std::size_t n) {
  const std::size_t mean = n * (ranks.doubled.size() + 1);
  const auto distance = [&](std::size_t sum) { return std::max(sum, mean) - std::min(sum, mean); };
  const std::vector<double> choices = choices_by_sum(ranks.doubled, n);
  double total = 0, as_far = 0;
  for (std::size_t sum = 0; sum < choices.size(); ++sum) {
    total += choices[sum];
    if (distance(sum) >= distance(ranks.doubled_sum)) as_far += choices[sum];
  }
  return as_far / total;
}

/// How many of the least and of the largest differences of pairs are outside of the 99 % interval.
std::size_t outside(std::size_t n, std::size_t m) {
  if (n <= exact_limit && m <= exact_limit) {
    // Many rows have equally many runs.
    thread_local std::size_t last_n = 0, last_m = 0, last = 0;
    if (n == last_n && m == last_m) return last;
    std::vector<std::size_t> ranks(n + m);
    std::iota(ranks.begin(), ranks.end(), std::size_t{1});
    std::vector<double> tails = choices_by_sum(ranks, n);
    std::partial_sum(tails.begin(), tails.end(), tails.begin());
    last_n = n;
    last_m = m;
    const auto first = tails.begin() + static_cast<std::ptrdiff_t>(n * (n + 1) / 2);  // U = 0
    return last = static_cast<std::size_t>(std::upper_bound(first, tails.end(), 0.005 * tails.back()) - first);
  }
  const double pairs = static_cast<double>(n) * static_cast<double>(m);
  const double deviation = std::sqrt(pairs / 12 * static_cast<double>(n + m + 1));
  return static_cast<std::size_t>(std::max(0.0, pairs / 2 - 2.5758293035489004 * deviation));
}

}  // namespace

double mann_whitney(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return 1;
  const Ranks ranks = ranks_of(a, b);
  if (a.size() <= exact_limit && b.size() <= exact_limit) return share_as_far(ranks, a.size());
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double u = static_cast<double>(ranks.doubled_sum) / 2 - n * (n + 1) / 2;
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  const double z = std::max(0.0, std::abs(u - n * m / 2) - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::numbers::sqrt2);
}

std::optional<Shift> shift_interval(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr std::size_t most_pairs = 4'000'000;
  if (a.empty() || b.empty() || a.size() > most_pairs / b.size()) return std::nullopt;
  std::vector<double> differences;
  differences.reserve(a.size() * b.size());
  for (const double before : a)
    for (const double after : b) differences.push_back(after - before);
  return interval_of_pairs(differences, a.size(), b.size());
}

std::optional<Shift> interval_of_pairs(std::vector<double>& pairs, std::size_t n, std::size_t m) {
  std::sort(pairs.begin(), pairs.end());
  const std::size_t outer = outside(n, m);
  if (outer == 0 || pairs.empty()) return std::nullopt;
  return Shift{pairs[outer - 1], pairs[pairs.size() - outer]};
}

std::vector<double> benjamini_hochberg(const std::vector<double>& probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  std::vector<double> adjusted(probabilities.size(), 1);
  double least = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double rank = static_cast<double>(order.size() - i);
    least = std::min(least, probabilities[order[i]] * static_cast<double>(order.size()) / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace tally::stats
