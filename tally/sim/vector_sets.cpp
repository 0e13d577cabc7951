#include "tally/sim/vector_sets.hpp"

#if defined(__x86_64__) && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tally::sim {

#if defined(__x86_64__) && defined(__SSE2__)

namespace {

#define TALLY_AVX2 __attribute__((target("avx2")))
#define TALLY_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,bmi2")))

std::byte* set_of(const VectorLevel& level, std::uint64_t address) {
  return level.table + (address >> level.shift & level.set_bytes_mask);
}

/// Ways have the complement of a line's address.
long long tag_of(const VectorLevel& level, std::uint64_t address) {
  return static_cast<long long>(~address | level.within_line);
}

/// Of words that have been turned by one, the first one is replaced by that of `first`.
TALLY_AVX2 inline __m256i moved_on(__m256i rotated, __m256i first) { return _mm256_blend_epi32(rotated, first, 3); }

/// In each way, whether the tag is in one before it, of these four.
TALLY_AVX2 inline __m256i found_before(__m256i found, __m256i found_in_pair) {
  const __m256i from_first_pair = _mm256_permute2x128_si256(found_in_pair, found_in_pair, 0x08);
  return _mm256_or_si256(_mm256_slli_si256(found, 8), from_first_pair);
}

constexpr int last_word_first = 0x93, halves_of_pair_swapped = 0x4e, pairs_swapped = 0x01;

TALLY_AVX2 inline __m256i in_pairs(__m256i found) {
  return _mm256_or_si256(found, _mm256_shuffle_epi32(found, halves_of_pair_swapped));
}

TALLY_AVX2 inline bool is_any(__m256i found) { return _mm256_testz_si256(found, found) == 0; }

// Ways behind the tag's own stay as they are. All by vectors: a mask that goes through a general register is longer on
// its way, and the next use of the set waits for it.
TALLY_AVX2 void use_four_by_avx2(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n,
                                 std::uint8_t* hits) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const VectorLevel& level = levels[lines[i] & 3];
    auto* const set = reinterpret_cast<__m256i*>(set_of(level, lines[i]));
    const __m256i tag = _mm256_set1_epi64x(tag_of(level, lines[i]));
    const __m256i ways = _mm256_loadu_si256(set);
    const __m256i found = _mm256_cmpeq_epi64(ways, tag);
    const __m256i turned = _mm256_permute4x64_epi64(ways, last_word_first);
    _mm256_storeu_si256(set, _mm256_blendv_epi8(moved_on(turned, tag), ways, found_before(found, in_pairs(found))));
    hits[i] = is_any(found);
  }
}

TALLY_AVX2 void use_eight_by_avx2(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n,
                                  std::uint8_t* hits) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const VectorLevel& level = levels[lines[i] & 3];
    auto* const set = reinterpret_cast<__m256i*>(set_of(level, lines[i]));
    const __m256i tag = _mm256_set1_epi64x(tag_of(level, lines[i]));
    const __m256i near = _mm256_loadu_si256(set), far = _mm256_loadu_si256(set + 1);
    const __m256i in_near = _mm256_cmpeq_epi64(near, tag), in_far = _mm256_cmpeq_epi64(far, tag);
    const __m256i near_pairs = in_pairs(in_near), far_pairs = in_pairs(in_far);
    const __m256i anywhere_near =
        _mm256_or_si256(near_pairs, _mm256_permute2x128_si256(near_pairs, near_pairs, pairs_swapped));
    const __m256i near_stays = found_before(in_near, near_pairs);
    const __m256i far_stays = _mm256_or_si256(found_before(in_far, far_pairs), anywhere_near);
    const __m256i near_turned = _mm256_permute4x64_epi64(near, last_word_first);
    const __m256i far_turned = _mm256_permute4x64_epi64(far, last_word_first);
    _mm256_storeu_si256(set, _mm256_blendv_epi8(moved_on(near_turned, tag), near, near_stays));
    _mm256_storeu_si256(set + 1, _mm256_blendv_epi8(moved_on(far_turned, near_turned), far, far_stays));
    hits[i] = is_any(_mm256_or_si256(in_near, in_far));
  }
}

// The bits that move are those up to the one that is set, all where none is: made within mask registers, as above.
TALLY_AVX512 inline __mmask8 that_move(__mmask8 found) { return _kxor_mask8(found, _kadd_mask8(found, 0xff)); }

TALLY_AVX512 void use_four_by_avx512(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n,
                                     std::uint8_t* hits) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const VectorLevel& level = levels[lines[i] & 3];
    auto* const set = reinterpret_cast<__m256i*>(set_of(level, lines[i]));
    const __m256i tag = _mm256_set1_epi64x(tag_of(level, lines[i]));
    const __m256i ways = _mm256_loadu_si256(set);
    const __mmask8 found = _mm256_cmpeq_epi64_mask(ways, tag);
    _mm256_storeu_si256(set, _mm256_mask_alignr_epi64(ways, that_move(found), ways, tag, 3));
    _store_mask8(hits + i, found);
  }
}

TALLY_AVX512 void use_eight_by_avx512(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n,
                                      std::uint8_t* hits) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const VectorLevel& level = levels[lines[i] & 3];
    std::byte* const set = set_of(level, lines[i]);
    const __m512i tag = _mm512_set1_epi64(tag_of(level, lines[i]));
    const __m512i ways = _mm512_loadu_si512(set);
    const __mmask8 found = _mm512_cmpeq_epi64_mask(ways, tag);
    _mm512_storeu_si512(set, _mm512_mask_alignr_epi64(ways, that_move(found), ways, tag, 7));
    _store_mask8(hits + i, found);
  }
}

}  // namespace

Vectors widest_vectors() {
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                                 __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("bmi2") != 0;
  return has_avx512 ? Vectors::avx512 : Vectors::avx2;
}

VectorLevel::VectorLevel(const CacheShape& shape, std::uint64_t* words)
    : table(reinterpret_cast<std::byte*>(words)),
      set_bytes_mask((shape.sets - 1) * sizeof *words * shape.ways),
      within_line((std::uint64_t{1} << shape.line_bits) - 1),
      shift(shape.line_bits - (shape.ways == 8 ? 6 : 5)),
      ways(shape.ways) {}

bool VectorLevel::fits(const CacheShape& shape) {
  return shape.replacement == Replacement::lru && (shape.ways == 4 || shape.ways == 8) &&
         (shape.sets & (shape.sets - 1)) == 0 && shape.line_bits >= 6 && __builtin_cpu_supports("avx2") != 0;
}

void use_vector_levels(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n, std::uint8_t* hits,
                       Vectors by) {
  const bool four = levels[0].ways == 4;
  const auto by_avx512 = four ? use_four_by_avx512 : use_eight_by_avx512;
  const auto by_avx2 = four ? use_four_by_avx2 : use_eight_by_avx2;
  (by == Vectors::avx512 ? by_avx512 : by_avx2)(levels, lines, n, hits);
}

#else

VectorLevel::VectorLevel(const CacheShape&, std::uint64_t*) {}
bool VectorLevel::fits(const CacheShape&) { return false; }
Vectors widest_vectors() { return Vectors::avx2; }

// Nothing fits.
void use_vector_levels(const VectorLevel (&)[4], const std::uint64_t*, std::uint32_t, std::uint8_t*, Vectors) {}

#endif

bool vector_levels(VectorLevel (&levels)[4], const LevelTable& code, const LevelTable& data) {
  const auto fits = [](const CacheShape& shape) { return shape.sets == 0 || VectorLevel::fits(shape); };
  if (!fits(code.shape) || !fits(data.shape)) return false;
  if (code.shape.sets != 0 && data.shape.sets != 0 && code.shape.ways != data.shape.ways) return false;
  for (VectorLevel& level : levels) {
    const LevelTable& its = &level == &levels[static_cast<unsigned>(Access::fetch)] ? code : data;
    // What does not exist is not used, and has the same ways.
    level = its.shape.sets != 0 ? VectorLevel(its.shape, its.words) : VectorLevel();
    level.ways = data.shape.sets != 0 ? data.shape.ways : code.shape.ways;
  }
  return true;
}

}  // namespace tally::sim
