// Eight 16-bit numbers at once: in a vector register if the build may use them, otherwise in two words (the engine
// leaves vector registers to the program).
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tally::models {

/// Eight lanes in memory, with the same layout in all builds.
struct alignas(16) Lanes16 {
  static constexpr unsigned count = 8;
  std::uint16_t lane[count];
  bool operator==(const Lanes16&) const = default;
};

/// Eight lanes in two words. All operations work lane by lane, modulo 2^16, and take a few instructions each.
class WordLanes {
 public:
  WordLanes() = default;
  /// Four lanes from each word, the first one in its low bits.
  WordLanes(std::uint64_t first, std::uint64_t second) : word_{first, second} {}
  explicit WordLanes(const Lanes16& lanes) { __builtin_memcpy(word_, &lanes, sizeof word_); }
  /// Returns bits 0 … 15 of `value` in each lane.
  static WordLanes spread(std::uint32_t value) {
    const std::uint64_t word = (value & 0xffff) * ones;
    return {word, word};
  }
  /// For each of four values, spreads its bits `from` … `from` + 15, exclusive or with 16 bits from each of `also`, to
  /// all lanes of one result.
  template <unsigned from, unsigned... also>
  static void spread(const std::uint32_t* values, WordLanes* lanes) {
    for (unsigned i = 0; i < 4; ++i) lanes[i] = spread(((values[i] >> from) ^ ... ^ (values[i] >> also)));
  }
  /// Returns eight numbers, each from its own table of `size` numbers at the index in `at`; the tables are adjacent.
  template <unsigned size>
  static WordLanes picked(const std::uint16_t* tables, const Lanes16& at) {
    const auto number = [&](unsigned i) {
      return std::uint64_t{tables[std::size_t{i} * size + at.lane[i]]} << i % 4 * 16;
    };
    return {number(0) | number(1) | number(2) | number(3), number(4) | number(5) | number(6) | number(7)};
  }
  void store(Lanes16& lanes) const { __builtin_memcpy(&lanes, word_, sizeof word_); }

  WordLanes operator^(WordLanes other) const { return {word_[0] ^ other.word_[0], word_[1] ^ other.word_[1]}; }
  WordLanes operator&(WordLanes other) const { return {word_[0] & other.word_[0], word_[1] & other.word_[1]}; }
  WordLanes operator|(WordLanes other) const { return {word_[0] | other.word_[0], word_[1] | other.word_[1]}; }
  template <unsigned bits>
  WordLanes left() const {
    constexpr std::uint64_t stay = ones * (0xffffu >> bits);
    return {(word_[0] & stay) << bits, (word_[1] & stay) << bits};
  }
  template <unsigned bits>
  WordLanes right() const {
    constexpr std::uint64_t stay = ones * (0xffffu >> bits);
    return {word_[0] >> bits & stay, word_[1] >> bits & stay};
  }
  WordLanes doubled() const { return left<1>(); }
  /// Returns in each lane the next one, and zero in the last.
  WordLanes from_next() const { return {word_[0] >> 16 | word_[1] << 48, word_[1] >> 16}; }
  /// Returns lanes with all bits equal to the top bit of each lane.
  WordLanes signs() const { return {filled(word_[0] >> 15 & ones), filled(word_[1] >> 15 & ones)}; }
  /// Returns one bit for each lane that is zero, the first lane's in bit 0.
  unsigned zeroes() const { return zeroes(word_[0]) | zeroes(word_[1]) << 4; }

 private:
  static constexpr std::uint64_t ones = 0x0001'0001'0001'0001;

  // Sets all bits of each lane that is 1.
  static std::uint64_t filled(std::uint64_t lanes) { return (lanes << 16) - lanes; }
  static unsigned zeroes(std::uint64_t word) {
    constexpr std::uint64_t below_top = 0x7fff'7fff'7fff'7fff;
    const std::uint64_t zero = ~(((word & below_top) + below_top) | word) >> 15 & ones;
    return static_cast<unsigned>(zero * 0x0001'0002'0004'0008 >> 48) & 15;  // bits 0, 16, 32, 48 become adjacent
  }

  std::uint64_t word_[2];
};

#if defined(__SSE2__)

/// Returns bit 0 of each of four values, the first one's in bit 3.
inline std::uint32_t low_bits_of_four(const std::uint32_t* values) {
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
  const __m128i turned = _mm_slli_epi32(_mm_shuffle_epi32(words, 0x1b), 31);
  return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(turned)));
}

/// Returns bit 31 of each of four values, the first one's in bit 0.
inline std::uint32_t top_bits_of_four(const std::uint32_t* values) {
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
  return static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(words)));
}

/// WordLanes in a vector register: one or two instructions each.
class VectorLanes {
 public:
  VectorLanes() = default;
  VectorLanes(std::uint64_t first, std::uint64_t second)
      : vector_(_mm_set_epi64x(static_cast<std::int64_t>(second), static_cast<std::int64_t>(first))) {}
  explicit VectorLanes(const Lanes16& lanes) : vector_(_mm_load_si128(reinterpret_cast<const __m128i*>(&lanes))) {}
  static VectorLanes spread(std::uint32_t value) {
    return VectorLanes(_mm_set1_epi16(static_cast<std::int16_t>(value)));
  }
  template <unsigned from, unsigned... also>
  static void spread(const std::uint32_t* values, VectorLanes* lanes) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
    __m128i four = _mm_srli_epi32(words, from);
    ((four = _mm_xor_si128(four, _mm_srli_epi32(words, also))), ...);
    const __m128i above = _mm_slli_epi32(four, 16);
    const __m128i twice = _mm_or_si128(above, _mm_srli_epi32(above, 16));
    lanes[0] = VectorLanes(_mm_shuffle_epi32(twice, 0x00));
    lanes[1] = VectorLanes(_mm_shuffle_epi32(twice, 0x55));
    lanes[2] = VectorLanes(_mm_shuffle_epi32(twice, 0xaa));
    lanes[3] = VectorLanes(_mm_shuffle_epi32(twice, 0xff));
  }
  template <unsigned size>
  static VectorLanes picked(const std::uint16_t* tables, const Lanes16& at) {
    // Two loads of indices instead of eight, and two chains of insertions: a fifth less time than with eight loads.
    std::uint64_t places[2];
    __builtin_memcpy(places, &at, sizeof places);
    const auto number = [&](unsigned i) {
      return int{tables[std::size_t{i} * size + (places[i / 4] >> i % 4 * 16 & 0xffff)]};
    };
    __m128i first = _mm_cvtsi32_si128(number(0)), second = _mm_cvtsi32_si128(number(4));
    first = _mm_insert_epi16(first, static_cast<short>(number(1)), 1);
    second = _mm_insert_epi16(second, static_cast<short>(number(5)), 1);
    first = _mm_insert_epi16(first, static_cast<short>(number(2)), 2);
    second = _mm_insert_epi16(second, static_cast<short>(number(6)), 2);
    first = _mm_insert_epi16(first, static_cast<short>(number(3)), 3);
    second = _mm_insert_epi16(second, static_cast<short>(number(7)), 3);
    return VectorLanes(_mm_unpacklo_epi64(first, second));
  }
  void store(Lanes16& lanes) const { _mm_store_si128(reinterpret_cast<__m128i*>(&lanes), vector_); }

  VectorLanes operator^(VectorLanes other) const { return VectorLanes(_mm_xor_si128(vector_, other.vector_)); }
  VectorLanes operator&(VectorLanes other) const { return VectorLanes(_mm_and_si128(vector_, other.vector_)); }
  VectorLanes operator|(VectorLanes other) const { return VectorLanes(_mm_or_si128(vector_, other.vector_)); }
  template <unsigned bits>
  VectorLanes left() const {
    return VectorLanes(_mm_slli_epi16(vector_, bits));
  }
  template <unsigned bits>
  VectorLanes right() const {
    return VectorLanes(_mm_srli_epi16(vector_, bits));
  }
  VectorLanes doubled() const { return VectorLanes(_mm_add_epi16(vector_, vector_)); }
  VectorLanes from_next() const { return VectorLanes(_mm_srli_si128(vector_, 2)); }
  VectorLanes signs() const { return VectorLanes(_mm_srai_epi16(vector_, 15)); }
  unsigned zeroes() const {
    const __m128i zero = _mm_setzero_si128();
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(vector_, zero), zero)));
  }

 private:
  explicit VectorLanes(__m128i vector) : vector_(vector) {}

  __m128i vector_;
};

using Lanes = VectorLanes;

#else

inline std::uint32_t low_bits_of_four(const std::uint32_t* values) {
  return (values[0] & 1) << 3 | (values[1] & 1) << 2 | (values[2] & 1) << 1 | (values[3] & 1);
}

inline std::uint32_t top_bits_of_four(const std::uint32_t* values) {
  return values[0] >> 31 | values[1] >> 31 << 1 | values[2] >> 31 << 2 | values[3] >> 31 << 3;
}

using Lanes = WordLanes;

#endif

}  // namespace tally::models
