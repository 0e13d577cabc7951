// Pseudorandom distributions that are identical on every machine; those of standard libraries differ.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "tally/core/stats/split_mix.hpp"

namespace tally::discover {

/// SplitMix64 (Steele, Lea, Flood 2014), seeded with a seed and a name for the numbers' purpose.
class Random {
 public:
  Random(std::uint64_t seed, std::initializer_list<std::uint64_t> name);

  std::uint64_t next() { return bits_.next(); }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// In [0, 1).
  double share() { return bits_.share(); }
  double between(double low, double high) { return low + (high - low) * share(); }
  double normal();
  /// Both return rounded normal values if the mean is large.
  double poisson(double mean);
  double binomial(double n, double p);

 private:
  stats::SplitMix64 bits_;
};

}  // namespace tally::discover
