#include "tally/engine/models/cache/vector_sets.hpp"

#if defined(__x86_64__) && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tally::models {

#if defined(__x86_64__) && defined(__SSE2__)

namespace {

/// Ways in a register of 32 bytes.
constexpr std::uint32_t ways_of_quad = 4, quad_bytes = 32;

#define TALLY_AVX2 __attribute__((target("avx2")))
#define TALLY_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,bmi2,popcnt")))

/// Returns the set, which consists of `quads` words of 32 bytes.
template <std::uint32_t quads>
std::byte* set_of(const VectorLevel& level, std::uint64_t address) {
  return level.table + (address >> level.shift & level.set_mask) * quads;
}

/// Ways contain the complement of a line's address.
long long tag_of(const VectorLevel& level, std::uint64_t address) {
  return static_cast<long long>(~address | level.within_line);
}

/// Selects notes: all of them, or those with these indices.
struct All {
  std::uint32_t operator[](std::uint32_t i) const { return i; }
};
using Places = const std::uint32_t*;

/// Replaces the first word of a register that was rotated by one with that of `first`.
TALLY_AVX2 inline __m256i moved_on(__m256i rotated, __m256i first) { return _mm256_blend_epi32(rotated, first, 3); }

/// For each of these four ways, whether the tag is in one before it.
TALLY_AVX2 inline __m256i found_before(__m256i found, __m256i found_in_pair) {
  const __m256i from_first_pair = _mm256_permute2x128_si256(found_in_pair, found_in_pair, 0x08);
  return _mm256_or_si256(_mm256_slli_si256(found, 8), from_first_pair);
}

constexpr int last_word_first = 0x93, halves_of_pair_swapped = 0x4e, pairs_swapped = 0x01;

TALLY_AVX2 inline __m256i in_pairs(__m256i found) {
  return _mm256_or_si256(found, _mm256_shuffle_epi32(found, halves_of_pair_swapped));
}

TALLY_AVX2 inline bool is_any(__m256i found) { return _mm256_testz_si256(found, found) == 0; }

// Ways after the tag's own do not change. Uses vectors only: a mask that passes through a general register takes
// longer, and the next use of the set waits for it.
template <std::uint32_t quads, class Which>
TALLY_AVX2 void use_by_avx2(const VectorLevel (&levels)[4], const std::uint64_t* lines, Which which, std::uint32_t n,
                            std::uint8_t* hits) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint64_t line = lines[which[i]];
    const VectorLevel& level = levels[line & 3];
    auto* const set = reinterpret_cast<__m256i*>(set_of<quads>(level, line));
    const __m256i tag = _mm256_set1_epi64x(tag_of(level, line));
    __m256i before = tag;                       // what goes into the first of the next four ways
    __m256i anywhere = _mm256_setzero_si256();  // in each way: whether the tag is in an earlier register
#pragma GCC unroll 4
    for (std::uint32_t quad = 0; quad < quads; ++quad) {
      const __m256i ways = _mm256_loadu_si256(set + quad);
      const __m256i found = _mm256_cmpeq_epi64(ways, tag);
      const __m256i pairs = in_pairs(found);
      const __m256i turned = _mm256_permute4x64_epi64(ways, last_word_first);
      const __m256i stays = _mm256_or_si256(found_before(found, pairs), anywhere);
      _mm256_storeu_si256(set + quad, _mm256_blendv_epi8(moved_on(turned, before), ways, stays));
      before = turned;
      anywhere =
          _mm256_or_si256(anywhere, _mm256_or_si256(pairs, _mm256_permute2x128_si256(pairs, pairs, pairs_swapped)));
    }
    hits[which[i]] = is_any(anywhere);
  }
}

// The ways up to the one that is found move, or all if none is. Computed in mask registers for the same reason.
TALLY_AVX512 inline __mmask8 that_move(__mmask8 found) { return _kxor_mask8(found, _kadd_mask8(found, 0xff)); }
TALLY_AVX512 inline __mmask16 that_move_of_16(__mmask16 found) {
  return _kxor_mask16(found, _kadd_mask16(found, 0xffff));
}

TALLY_AVX512 inline __mmask8 of_far(__mmask16 moves) { return static_cast<__mmask8>(_kshiftri_mask16(moves, 8)); }

template <std::uint32_t quads, class Which>
TALLY_AVX512 void use_by_avx512(const VectorLevel (&levels)[4], const std::uint64_t* lines, Which which,
                                std::uint32_t n, std::uint8_t* hits) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint64_t line = lines[which[i]];
    const VectorLevel& level = levels[line & 3];
    std::byte* const set = set_of<quads>(level, line);
    std::uint8_t* const hit = hits + which[i];
    if constexpr (quads == 1) {
      const __m256i tag = _mm256_set1_epi64x(tag_of(level, line));
      const __m256i ways = _mm256_loadu_si256(reinterpret_cast<__m256i*>(set));
      const __mmask8 found = _mm256_cmpeq_epi64_mask(ways, tag);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(set),
                          _mm256_mask_alignr_epi64(ways, that_move(found), ways, tag, 3));
      _store_mask8(hit, found);
      continue;
    }
    const __m512i tag = _mm512_set1_epi64(tag_of(level, line));
    const __m512i near = _mm512_loadu_si512(set);
    const __mmask8 in_near = _mm512_cmpeq_epi64_mask(near, tag);
    if constexpr (quads == 2) {
      _mm512_storeu_si512(set, _mm512_mask_alignr_epi64(near, that_move(in_near), near, tag, 7));
      _store_mask8(hit, in_near);
    } else {
      std::byte* const rest = set + sizeof near;
      if constexpr (quads == 3) {
        auto* const last_four = reinterpret_cast<__m256i*>(rest);
        const __m256i before = _mm256_loadu_si256(last_four - 1);
        const __m256i far = _mm256_loadu_si256(last_four);
        const __mmask8 in_far = _mm256_cmpeq_epi64_mask(far, _mm256_set1_epi64x(tag_of(level, line)));
        const __mmask16 moves = that_move_of_16(_mm512_kunpackb(in_far, in_near));
        _mm512_storeu_si512(set, _mm512_mask_alignr_epi64(near, static_cast<__mmask8>(moves), near, tag, 7));
        _mm256_storeu_si256(last_four, _mm256_mask_alignr_epi64(far, of_far(moves), far, before, 3));
        _store_mask8(hit, _kor_mask8(in_near, in_far));
      } else {
        const __m512i far = _mm512_loadu_si512(rest);
        const __mmask8 in_far = _mm512_cmpeq_epi64_mask(far, tag);
        const __mmask16 moves = that_move_of_16(_mm512_kunpackb(in_far, in_near));
        _mm512_storeu_si512(set, _mm512_mask_alignr_epi64(near, static_cast<__mmask8>(moves), near, tag, 7));
        _mm512_storeu_si512(rest, _mm512_mask_alignr_epi64(far, of_far(moves), far, near, 7));
        _store_mask8(hit, _kor_mask8(in_near, in_far));
      }
    }
  }
}

/// The number of notes that are split into code and data at a time.
constexpr std::uint32_t batch = 512;
constexpr auto fetches = static_cast<unsigned>(Access::fetch);

/// The indices of the notes for the code level, and of those for the data levels.
struct SplitNotes {
  std::uint32_t of_code[batch + 8], of_data[batch + 8];  // eight are written at a time
  std::uint32_t codes = 0, datas = 0;
};

void part(const std::uint64_t* lines, std::uint32_t from, std::uint32_t n, SplitNotes& parted) {
  for (std::uint32_t i = from; i < n; ++i) {
    const bool is_code = (lines[i] & 3) == fetches;
    parted.of_code[parted.codes] = parted.of_data[parted.datas] = i;
    parted.codes += is_code ? 1 : 0;
    parted.datas += is_code ? 0 : 1;
  }
}

TALLY_AVX512 void part_by_avx512(const std::uint64_t* lines, std::uint32_t n, SplitNotes& parted) {
  const __m512i bits = _mm512_set1_epi64(3), of_code = _mm512_set1_epi64(fetches);
  __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  std::uint32_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __mmask8 is_code = _mm512_cmpeq_epi64_mask(_mm512_and_si512(_mm512_loadu_si512(lines + i), bits), of_code);
    const __mmask8 is_data = _knot_mask8(is_code);
    // Compresses to a register, because compressing to memory takes a hundred cycles on some processors.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(parted.of_code + parted.codes),
                        _mm256_maskz_compress_epi32(is_code, places));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(parted.of_data + parted.datas),
                        _mm256_maskz_compress_epi32(is_data, places));
    const auto codes = static_cast<std::uint32_t>(__builtin_popcount(is_code));
    parted.codes += codes;
    parted.datas += 8 - codes;
    places = _mm256_add_epi32(places, _mm256_set1_epi32(8));
  }
  part(lines, i, n, parted);
}

template <class Which>
void use_levels(const VectorLevel (&levels)[4], std::uint32_t ways, const std::uint64_t* lines, Which which,
                std::uint32_t n, std::uint8_t* hits, Vectors by) {
  using Use = void (*)(const VectorLevel(&)[4], const std::uint64_t*, Which, std::uint32_t, std::uint8_t*);
  static constexpr Use by_avx2[] = {use_by_avx2<1, Which>, use_by_avx2<2, Which>, use_by_avx2<3, Which>,
                                    use_by_avx2<4, Which>};
  static constexpr Use by_avx512[] = {use_by_avx512<1, Which>, use_by_avx512<2, Which>, use_by_avx512<3, Which>,
                                      use_by_avx512<4, Which>};
  (by == Vectors::avx512 ? by_avx512 : by_avx2)[ways / ways_of_quad - 1](levels, lines, which, n, hits);
}

}  // namespace

Vectors widest_vectors() {
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                                 __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("bmi2") != 0;
  return has_avx512 ? Vectors::avx512 : Vectors::avx2;
}

VectorLevel::VectorLevel(const CacheShape& shape, std::uint64_t* words)
    : table(reinterpret_cast<std::byte*>(words)),
      set_mask(std::uint64_t{shape.sets - 1} * quad_bytes),
      within_line((std::uint64_t{1} << shape.line_bits) - 1),
      shift(shape.line_bits - 5u),
      ways(shape.ways) {}

bool VectorLevel::fits(const CacheShape& shape) {
  const bool in_quads = shape.ways != 0 && shape.ways % ways_of_quad == 0 && shape.ways <= 4 * ways_of_quad;
  return shape.replacement == Replacement::lru && in_quads && (shape.sets & (shape.sets - 1)) == 0 &&
         shape.line_bits >= 6 && __builtin_cpu_supports("avx2") != 0;
}

void use_vector_levels(const VectorLevel (&levels)[4], const std::uint64_t* lines, std::uint32_t n, std::uint8_t* hits,
                       Vectors by) {
  constexpr auto data = static_cast<unsigned>(Access::load);
  if (levels[fetches].ways == levels[data].ways)
    return use_levels(levels, levels[data].ways, lines, All(), n, hits, by);
  // One level after the other: they are independent, and different code for each note would be mispredicted.
  for (std::uint32_t here = 0; n != 0; lines += here, hits += here, n -= here) {
    here = n < batch ? n : batch;
    SplitNotes parted;
    if (by == Vectors::avx512) {
      part_by_avx512(lines, here, parted);
    } else {
      part(lines, 0, here, parted);
    }
    use_levels(levels, levels[fetches].ways, lines, Places{parted.of_code}, parted.codes, hits, by);
    use_levels(levels, levels[data].ways, lines, Places{parted.of_data}, parted.datas, hits, by);
  }
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
  for (VectorLevel& level : levels) {
    const bool is_code = &level == &levels[static_cast<unsigned>(Access::fetch)];
    const LevelTable& its = is_code ? code : data;
    // A level that does not exist is not used, and gets the number of ways of the other one.
    level = its.shape.sets != 0 ? VectorLevel(its.shape, its.words) : VectorLevel();
    if (its.shape.sets == 0) level.ways = (is_code ? data : code).shape.ways;
  }
  return true;
}

}  // namespace tally::models
