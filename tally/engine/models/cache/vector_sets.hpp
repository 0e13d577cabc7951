// Sets of four to sixteen ways in vector registers: a use without a jump, and with few steps from one use of a set to
// the next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/engine/models/cache/cache.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"

namespace tally::models {

/// A level with sets of 4, 8, 12 or 16 ways, their number a power of two, lines of 64 bytes or more (or pages), and
/// LRU.
struct VectorLevel {
  std::byte* table = nullptr;
  std::uint64_t set_mask = 0;     ///< of what is left of an address: the number of its set times 32
  std::uint64_t within_line = 0;  ///< the bits of an address below its line
  std::uint32_t shift = 0;        ///< of an address, to the number of its line times 32
  std::uint32_t ways = 0;

  VectorLevel() = default;
  VectorLevel(const CacheShape& shape, std::uint64_t* words);

  /// Whether this processor and build can look such a level up here.
  static bool fits(const CacheShape& shape);
};

/// Levels by Access: whether one of code and one of data fit and can be looked up together. `levels` is written then.
bool vector_levels(VectorLevel (&levels)[4], const LevelTable& code, const LevelTable& data);

/// Registers of 32 bytes, and of 64 with masks.
enum class Vectors { avx2, avx512 };
/// The widest that this processor and build have.
Vectors widest_vectors();

/// A use of the lines of these addresses, in this order, in the level which the two low bits of each name; bit 2 is no
/// part of it. `hits`: 0 for each that was not there. For levels that fit and have no prefetched lines.
/// Cost on Zen 5, 12 ways of data and 8 of code: some 2.2 ns each with AVX-512, 3.6 ns with AVX2; 1.6 and 2.2 where
/// both have 8.
void use_vector_levels(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n, std::uint8_t* hits,
                       Vectors by = widest_vectors());

}  // namespace tally::models
