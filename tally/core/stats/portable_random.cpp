#include "tally/core/stats/portable_random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tally::discover {

constexpr double large = 30;  // from this mean on, a normal distribution is close enough

Random::Random(std::uint64_t seed, std::initializer_list<std::uint64_t> name) : bits_(seed) {
  for (const std::uint64_t word : name) bits_ = stats::SplitMix64(next() ^ word);
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - share()));
  return radius * std::cos(2 * std::numbers::pi * share());
}

double Random::poisson(double mean) {
  if (mean > large) return std::max(0.0, std::round(mean + std::sqrt(mean) * normal()));
  const double end = std::exp(-mean);
  double product = share(), count = 0;
  while (product > end) {
    product *= share();
    ++count;
  }
  return count;
}

double Random::binomial(double n, double p) {
  const double mean = n * p;
  if (mean < large) return std::min(n, poisson(mean));
  return std::clamp(std::round(mean + std::sqrt(mean * (1 - p)) * normal()), 0.0, n);
}

}  // namespace tally::discover
