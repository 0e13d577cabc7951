// Numbers that look random and are the same everywhere: the standard library's distributions differ from one to the
// next.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tally::discover {

/// SplitMix64 (Steele, Lea, Flood 2014), begun from a seed and the name of what the numbers are for.
class Random {
 public:
  Random(std::uint64_t seed, std::initializer_list<std::uint64_t> name);

  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// From 0 to 1.
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * share(); }
  double normal();
  /// Both are rounded normal values where the mean is large.
  double poisson(double mean);
  double binomial(double n, double p);

 private:
  std::uint64_t state_;
};

}  // namespace tally::discover
