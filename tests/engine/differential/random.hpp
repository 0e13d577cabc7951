#pragma once
#include <cstdint>
#include <initializer_list>

namespace tally::differential {

/// Numbers that depend on the seed only (SplitMix64, Steele et al. 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>((next() >> 32) % bound); }
  uint8_t byte() { return static_cast<uint8_t>(next() >> 32); }
  bool percent(uint32_t n) { return below(100) < n; }
  template <typename T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[below(static_cast<uint32_t>(all.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace tally::differential
