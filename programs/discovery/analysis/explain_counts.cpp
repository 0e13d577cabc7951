#include <algorithm>
#include <cmath>

#include "programs/discovery/analysis/linear.hpp"
#include "programs/discovery/analysis/robust.hpp"
#include "programs/discovery/analysis/steps.hpp"

namespace tally::discover {
namespace {

using result::coordinate_count;
using result::Slope;

// Returns the allowed distance of a slope from the expected number.
double allowed(const Slope& slope, double expected, const Limits& limits) {
  return limits.share * std::abs(expected) + limits.errors * slope.error + limits.least;
}

struct Problem {
  const std::vector<Slope>& slopes;
  const std::vector<Facts>& payloads;
  const Limits& limits;

  double predicted(const Explanation& by, std::size_t payload) const {
    double sum = 0;
    for (std::size_t i = 0; i < by.coordinates.size(); ++i) {
      sum += by.weights[i] * payloads[payload].composition[by.coordinates[i]];
    }
    return sum;
  }

  // Whether it fits in every payload; also computes the misfit.
  bool fits(Explanation& by) const {
    double sum = 0;
    for (std::size_t payload = 0; payload < slopes.size(); ++payload) {
      if (!payloads[payload].known) continue;
      const double expected = predicted(by, payload);
      const double off = std::abs(slopes[payload].value - expected);
      if (off > allowed(slopes[payload], expected, limits)) return false;
      const double relative = off / allowed(slopes[payload], expected, limits);
      sum += relative * relative;
    }
    by.misfit = sum / static_cast<double>(std::max<std::size_t>(1, slopes.size()));
    return true;
  }
};

// Returns the rate of one coordinate: the median of the ratios where it is large enough.
std::optional<Explanation> by_one(const Problem& problem, std::size_t coordinate) {
  double most = 0;
  for (const Facts& facts : problem.payloads) most = std::max(most, facts.composition[coordinate]);
  if (most <= 0) return std::nullopt;
  std::vector<double> ratios, errors;
  for (std::size_t payload = 0; payload < problem.slopes.size(); ++payload) {
    if (!problem.payloads[payload].known) continue;
    const double x = problem.payloads[payload].composition[coordinate];
    if (x < 0.4 * most) continue;
    ratios.push_back(problem.slopes[payload].value / x);
    errors.push_back(problem.slopes[payload].error / x);
  }
  Explanation one{{coordinate}, {median(ratios)}, {}, 0};
  const double n = static_cast<double>(ratios.size());
  one.errors = {std::max(median(errors) / std::sqrt(n), 1.2533 * spread(ratios) / std::sqrt(n))};
  const bool seen = one.weights[0] * most > problem.limits.least + problem.limits.errors * median(errors);
  if (!seen || !problem.fits(one)) return std::nullopt;
  return one;
}

// Rows and right-hand side, each divided by the allowed distance.
struct Weighted {
  Matrix a;
  std::vector<double> b;
};

Weighted weighted(const Problem& problem, const std::vector<std::size_t>& coordinates) {
  Weighted w;
  for (std::size_t payload = 0; payload < problem.slopes.size(); ++payload) {
    if (!problem.payloads[payload].known) continue;
    const Slope& slope = problem.slopes[payload];
    const double scale = 1 / allowed(slope, slope.value, problem.limits);
    std::vector<double> row;
    for (const std::size_t c : coordinates) row.push_back(scale * problem.payloads[payload].composition[c]);
    w.a.push_back(std::move(row));
    w.b.push_back(scale * slope.value);
  }
  return w;
}

Explanation fitted(const Problem& problem, std::vector<std::size_t> coordinates) {
  const Weighted w = weighted(problem, coordinates);
  Explanation one{std::move(coordinates), nnls(w.a, w.b), {}, 0};
  one.errors.assign(one.weights.size(), 0);
  return one;
}

constexpr double least_weight = 0.05;  // with several terms: smaller weights are residuals of the others

bool has_all(const Explanation& one) {
  return std::all_of(one.weights.begin(), one.weights.end(), [](double w) { return w >= least_weight; });
}

std::vector<std::size_t> present(const Problem& problem) {
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < coordinate_count; ++c) {
    const bool there = std::any_of(problem.payloads.begin(), problem.payloads.end(),
                                   [c](const Facts& facts) { return facts.composition[c] > 0; });
    if (there) all.push_back(c);
  }
  return all;
}

// Starts with all coordinates and removes the smallest one as long as the fit remains.
std::optional<Explanation> by_many(const Problem& problem) {
  Explanation one = fitted(problem, present(problem));
  for (;;) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < one.coordinates.size(); ++i) {
      if (one.weights[i] >= least_weight) kept.push_back(one.coordinates[i]);
    }
    if (kept.empty()) return std::nullopt;
    const bool smaller = kept.size() < one.coordinates.size();
    one = fitted(problem, std::move(kept));
    if (!smaller) break;
  }
  constexpr std::size_t most_terms = 4;  // more terms would fit anything
  if (!problem.fits(one)) return std::nullopt;
  for (bool pruned = true; pruned && one.coordinates.size() > 1;) {
    pruned = false;
    for (std::size_t i = 0; i < one.coordinates.size() && !pruned; ++i) {
      std::vector<std::size_t> fewer = one.coordinates;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      Explanation less = fitted(problem, std::move(fewer));
      if (!has_all(less) || !problem.fits(less)) continue;
      one = std::move(less);
      pruned = true;
    }
  }
  return one.coordinates.size() <= most_terms ? std::optional(std::move(one)) : std::nullopt;
}

// Returns the distance of the weights from integers, because processors usually count whole events.
double fraction(const Explanation& one) {
  double sum = 0;
  for (const double w : one.weights) sum += std::abs(w - std::round(w));
  return sum;
}

}  // namespace

std::vector<Explanation> explain(const std::vector<Slope>& slopes, const std::vector<Facts>& payloads,
                                 const Limits& limits) {
  const Problem problem{slopes, payloads, limits};
  std::vector<Explanation> found;
  for (std::size_t c = 0; c < coordinate_count; ++c) {
    if (auto one = by_one(problem, c)) found.push_back(*std::move(one));
  }
  // A difference below a hundredth of the allowed distance is ignored: then the order of names decides, on every
  // machine.
  const auto better = [](const Explanation& a, const Explanation& b) {
    return std::round(100 * a.misfit) < std::round(100 * b.misfit);
  };
  if (!found.empty()) {
    std::stable_sort(found.begin(), found.end(), better);
    return found;
  }
  const auto all = present(problem);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      Explanation two = fitted(problem, {all[i], all[j]});
      if (has_all(two) && problem.fits(two)) found.push_back(std::move(two));
    }
  }
  if (!found.empty()) {
    std::stable_sort(found.begin(), found.end(), [](const Explanation& a, const Explanation& b) {
      const double x = fraction(a), y = fraction(b);
      return std::abs(x - y) > 0.05 ? x < y : a.misfit < b.misfit;
    });
    return found;
  }
  if (auto many = by_many(problem)) found.push_back(*std::move(many));
  return found;
}

}  // namespace tally::discover
