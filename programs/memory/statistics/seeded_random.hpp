// The seeded generator of all random choices in `tally memory`: the same seed repeats a run.
#pragma once

#include <bit>
#include <cstdint>

#include "tally/core/stats/split_mix.hpp"

namespace tally::memory {

/// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018), seeded by SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    stats::SplitMix64 filler(seed);
    for (std::uint64_t& word : state_) word = filler.next();
  }

  /// 64 random bits.
  std::uint64_t next() {
    ++draws_;
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// An integer from low to high, inclusive, all equally likely: rejects draws that would favour small numbers.
  std::uint64_t uniform(std::uint64_t low, std::uint64_t high) {
    const std::uint64_t range = high - low + 1;
    if (range == 0) return next();
    const std::uint64_t unfair = (0 - range) % range;
    std::uint64_t bits = next();
    while (bits < unfair) bits = next();
    return low + bits % range;
  }

  /// A number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// How many times 64 bits were drawn, including rejected draws.
  std::uint64_t draws() const { return draws_; }

 private:
  std::uint64_t state_[4] = {};
  std::uint64_t draws_ = 0;
};

}  // namespace tally::memory
