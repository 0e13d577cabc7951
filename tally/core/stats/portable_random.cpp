#include "tally/core/stats/portable_random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tally::discover {

constexpr double large = 30;  // from here on a normal distribution is near enough

Random::Random(std::uint64_t seed, std::initializer_list<std::uint64_t> name) : state_(seed) {
  for (const std::uint64_t word : name) state_ = next() ^ word;
}

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
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
