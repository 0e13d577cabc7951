// Sets of eight ways in vector registers: a use without a jump, and with few steps from one use of a set to the
// next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/sim/cache.hpp"

namespace tally::sim {

/// A level with sets of eight ways, their number a power of two, lines of 64 bytes or more, and LRU.
struct VectorLevel {
  std::byte* table = nullptr;
  std::uint64_t set_bytes_mask = 0;  ///< of an offset into the table
  unsigned shift = 0;                ///< of a line's address, to the offset of its set

  VectorLevel() = default;
  VectorLevel(const CacheShape& shape, std::uint64_t* words);

  /// Whether this processor and build can look such a level up here.
  static bool fits(const CacheShape& shape);
};

/// Registers of 32 bytes, and of 64 with masks.
enum class Vectors { avx2, avx512 };
/// The widest that this processor and build have.
Vectors widest_vectors();

/// A use of each of these lines, in this order, in the level which the two low bits of it name; the others are the
/// address of a line of that level, without bit 2. `hits`: 0 for each that was not there. For levels without prefetched
/// lines that fit. Cost: some 1.5 ns each with AVX-512, 2.6 ns with AVX2.
void use_vector_levels(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n, std::uint8_t* hits,
                       Vectors by = widest_vectors());

}  // namespace tally::sim
