// SplitMix64: pseudorandom numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace tally::stats {

/// Generates pseudorandom numbers; not for cryptography. Source: Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  /// 64 random bits.
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9E37'79B9'7F4A'7C15;
    mixed = (mixed ^ mixed >> 30) * 0xBF58'476D'1CE4'E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D0'49BB'1331'11EB;
    return mixed ^ mixed >> 31;
  }

  /// Returns a uniformly distributed number in [0, 1).
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace tally::stats
