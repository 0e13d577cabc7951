// Sets of eight ways as two vector registers: a use without a jump, and with few steps from one use of a set to the
// next.
#pragma once

#include <cstdint>

#include "tally/sim/cache.hpp"

namespace tally::sim {

/// A level with sets of eight ways, their number a power of two, and LRU.
struct VectorLevel {
  std::uint64_t* table = nullptr;
  std::uint64_t sets = 0;
  unsigned line_bits = 6;

  /// Whether this processor and build can look such a level up here.
  static bool fits(const CacheShape& shape);
};

/// A use of each of these lines, in this order, in the level which the two low bits of it name; lines have at least 8
/// bytes, and bits 0 … 2 are no part of an address. `hits`: 1 for each that was there, else 0. For levels without
/// prefetched lines that fit. Cost: some 3 ns each.
void use_vector_levels(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n, std::uint8_t* hits);

}  // namespace tally::sim
