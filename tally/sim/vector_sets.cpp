#include "tally/sim/vector_sets.hpp"

#if defined(__x86_64__) && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tally::sim {

#if defined(__x86_64__) && defined(__SSE2__)

namespace {

#define TALLY_AVX2 __attribute__((target("avx2")))
#define TALLY_AVX512 __attribute__((target("avx512f,avx512dq,bmi2")))

std::byte* set_of(const VectorLevel& level, std::uint64_t line) {
  return level.table + (line >> level.shift & level.set_bytes_mask);
}

/// Of a line's address with what it is used for below it: ways have its complement.
long long tag_of(std::uint64_t line) { return static_cast<long long>(~line | 7); }

/// Of words that have been turned by one, the first one is replaced by that of `first`.
TALLY_AVX2 inline __m256i moved_on(__m256i rotated, __m256i first) { return _mm256_blend_epi32(rotated, first, 3); }

/// In each way, whether the tag is in one before it, of these four.
TALLY_AVX2 inline __m256i found_before(__m256i found, __m256i found_in_pair) {
  const __m256i from_first_pair = _mm256_permute2x128_si256(found_in_pair, found_in_pair, 0x08);
  return _mm256_or_si256(_mm256_slli_si256(found, 8), from_first_pair);
}

TALLY_AVX2 void use_by_avx2(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n,
                            std::uint8_t* hits) {
  constexpr int last_word_first = 0x93, halves_of_pair_swapped = 0x4e, pairs_swapped = 0x01;
  for (std::uint32_t i = 0; i < n; ++i) {
    auto* const set = reinterpret_cast<__m256i*>(set_of(levels[lines[i] & 3], lines[i]));
    const __m256i tag = _mm256_set1_epi64x(tag_of(lines[i]));
    const __m256i near = _mm256_loadu_si256(set), far = _mm256_loadu_si256(set + 1);
    const __m256i in_near = _mm256_cmpeq_epi64(near, tag), in_far = _mm256_cmpeq_epi64(far, tag);
    // Ways behind the tag's own stay as they are. All by vectors: a mask that goes through a general register is longer
    // on its way, and the next use of the set waits for it.
    const __m256i near_pairs = _mm256_or_si256(in_near, _mm256_shuffle_epi32(in_near, halves_of_pair_swapped));
    const __m256i far_pairs = _mm256_or_si256(in_far, _mm256_shuffle_epi32(in_far, halves_of_pair_swapped));
    const __m256i anywhere_near =
        _mm256_or_si256(near_pairs, _mm256_permute2x128_si256(near_pairs, near_pairs, pairs_swapped));
    const __m256i near_stays = found_before(in_near, near_pairs);
    const __m256i far_stays = _mm256_or_si256(found_before(in_far, far_pairs), anywhere_near);
    const __m256i near_turned = _mm256_permute4x64_epi64(near, last_word_first);
    const __m256i far_turned = _mm256_permute4x64_epi64(far, last_word_first);
    _mm256_storeu_si256(set, _mm256_blendv_epi8(moved_on(near_turned, tag), near, near_stays));
    _mm256_storeu_si256(set + 1, _mm256_blendv_epi8(moved_on(far_turned, near_turned), far, far_stays));
    hits[i] = _mm256_testz_si256(_mm256_or_si256(in_near, in_far), _mm256_set1_epi64x(-1)) == 0;
  }
}

TALLY_AVX512 void use_by_avx512(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n,
                                std::uint8_t* hits) {
  for (std::uint32_t i = 0; i < n; ++i) {
    std::byte* const set = set_of(levels[lines[i] & 3], lines[i]);
    const __m512i tag = _mm512_set1_epi64(tag_of(lines[i]));
    const __m512i ways = _mm512_loadu_si512(set);
    const __mmask8 found = _mm512_cmpeq_epi64_mask(ways, tag);
    // The bits up to the one that is set, all where none is; within mask registers, as above.
    const __mmask8 moves = _kxor_mask8(found, _kadd_mask8(found, 0xff));
    _mm512_storeu_si512(set, _mm512_mask_alignr_epi64(ways, moves, ways, tag, 7));
    _store_mask8(hits + i, found);
  }
}

}  // namespace

Vectors widest_vectors() {
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                                 __builtin_cpu_supports("bmi2") != 0;
  return has_avx512 ? Vectors::avx512 : Vectors::avx2;
}

VectorLevel::VectorLevel(const CacheShape& shape, std::uint64_t* words)
    : table(reinterpret_cast<std::byte*>(words)), set_bytes_mask((shape.sets - 1) * 64), shift(shape.line_bits - 6) {}

bool VectorLevel::fits(const CacheShape& shape) {
  return shape.replacement == Replacement::lru && shape.ways == 8 && (shape.sets & (shape.sets - 1)) == 0 &&
         shape.line_bits >= 6 && __builtin_cpu_supports("avx2") != 0;
}

void use_vector_levels(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n, std::uint8_t* hits,
                       Vectors by) {
  (by == Vectors::avx512 ? use_by_avx512 : use_by_avx2)(levels, lines, n, hits);
}

#else

VectorLevel::VectorLevel(const CacheShape&, std::uint64_t*) {}
bool VectorLevel::fits(const CacheShape&) { return false; }
Vectors widest_vectors() { return Vectors::avx2; }

// Nothing fits.
void use_vector_levels(const VectorLevel (&)[4], const std::uint64_t*, std::uint32_t, std::uint8_t*, Vectors) {}

#endif

}  // namespace tally::sim
