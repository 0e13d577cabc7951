// Sets of four to sixteen ways in vector registers, with jump-free use and a short dependency from one use of a set to
// the next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/engine/models/cache/cache_level.hpp"
#include "tally/engine/models/cache/hierarchy.hpp"

namespace tally::models {

/// An LRU level whose sets have 4, 8, 12 or 16 ways, with a power of two of sets, and lines of 64 bytes or more (or
/// pages).
struct VectorLevel {
  std::byte* table = nullptr;
  std::uint64_t set_mask = 0;     ///< selects the set's number times 32 from a shifted address
  std::uint64_t within_line = 0;  ///< the bits of an address below its line
  std::uint32_t shift = 0;        ///< shifts an address to its line number times 32
  std::uint32_t ways = 0;

  VectorLevel() = default;
  VectorLevel(const CacheShape& shape, std::uint64_t* words);

  /// Whether this processor and build support lookups in such a level.
  static bool fits(const CacheShape& shape);
};

/// Fills `levels`, indexed by Access, if a level of code and one of data fit and can share a lookup. Returns
/// whether they do.
bool vector_levels(VectorLevel (&levels)[4], const LevelTable& code, const LevelTable& data);

/// Vector registers of 32 bytes, or of 64 bytes with masks.
enum class Vectors { avx2, avx512 };
/// Returns the widest that this processor and build support.
Vectors widest_vectors();

/// Uses the lines of these addresses in order. The two low bits of each select the level; bit 2 is ignored. `hits`: 0
/// for each miss. For levels that fit and have no prefetched lines. Cost on Zen 5, with 12 ways of data and 8 of code:
/// some 2.2 ns per line with AVX-512, 3.6 ns with AVX2; 1.6 and 2.2 ns if both have 8.
void use_vector_levels(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n, std::uint8_t* hits,
                       Vectors by = widest_vectors());

}  // namespace tally::models
