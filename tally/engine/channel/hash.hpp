/// Hash functions without a key: for tables, and for checksums that find damage but no attack (record_key.hpp has
/// those).
///
/// Freestanding, like channel.hpp.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// Knuth's multiplicative hash (The Art of Computer Programming, volume 3, section 6.4), with 2^64 divided by the
/// golden ratio. The high bits of the product depend on all bits of the value, so the functions below use those.
constexpr uint64_t hash64(uint64_t value) { return value * 0x9E37'79B9'7F4A'7C15; }
/// The highest `bits` bits of the hash, at most 32.
constexpr uint32_t hash_bits(uint64_t value, uint32_t bits) {
  return static_cast<uint32_t>(hash64(value) >> (64 - bits));
}
constexpr uint32_t hash32(uint64_t value) { return hash_bits(value, 32); }
/// A hash below `limit`, which need not be a power of two.
constexpr uint32_t hash_below(uint64_t value, uint32_t limit) {
  return static_cast<uint32_t>(uint64_t{hash32(value)} * limit >> 32);
}

/// Adds a word to a checksum.
constexpr uint64_t checksum_with(uint64_t checksum, uint64_t word) {
  checksum = hash64(checksum ^ word);
  return checksum ^ checksum >> 29;
}

}  // namespace tally::channel
