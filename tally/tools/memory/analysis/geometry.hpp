// Ways, sets, lines and pages from the number of lines at one distance that still hit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/output/result/memory.hpp"

namespace tally::memory {

/// How many lines, `stride_bytes` from one to the next, still hit when they are walked in laps.
struct HitCount {
  std::uint64_t stride_bytes = 0;
  std::uint64_t lines = 0;
};

/// What a level looks like; or why that cannot be told.
struct Geometry {
  std::optional<std::uint64_t> ways, sets;
  std::uint64_t capacity_bytes = 0;  ///< ways × sets × line; 0 where they are not known
  std::string reason;                ///< empty where ways and sets are known
};

/// Geometry of a cache. For strides that are powers of two, lines × stride is the capacity up to stride = sets × line,
/// and lines are the ways from there on, at three strides at least. Up to three strides before that must say the same;
/// at narrower ones, where hundreds of lines are needed, there may be fewer, for what a neighbour has in the cache, and
/// not more. Odd multiples of the first of those strides must say the same, or the sets are no power of two; `hits`
/// hold the powers of two ascending, and any others after them.
Geometry cache_geometry(std::span<const HitCount> hits, std::uint64_t line_bytes);

/// Strides that make cache_geometry() sure of what the powers of two say: 3, 5 and 7 times the saturating one.
std::vector<std::uint64_t> witness_strides(std::span<const HitCount> hits);

/// Lines of a stride, a power of two, that a cache of known ways and sets holds.
std::uint64_t lines_held(const Geometry& geometry, std::uint64_t stride_bytes);

/// Strides whose number of lines is not the one that the geometry wants; all of them where that is not known.
std::vector<std::uint64_t> disturbed_strides(std::span<const HitCount> hits, std::uint64_t line_bytes);

/// Of several counts of the same the largest that another one confirms within 2 %: what else runs takes entries away.
/// The middle one where none does; 0 of none.
std::uint64_t found_again(std::vector<std::uint64_t> counts);

/// What is known of the first translation buffer.
struct FirstTranslations {
  double reach_bytes = 0;  ///< 0: not known
  double miss_ns = 0;      ///< what a translation adds that it does not hold; 0: not known
  bool operator==(const FirstTranslations&) const = default;
};

/// What the first translation buffer holds, and what a miss in it costs.
struct TlbHits {
  std::vector<HitCount> hits;  ///< pages that hit, at pitches of page × 2^k + line
  bool again = true;           ///< each of these numbers in two mappings at least
  double penalty_ns = 0;
  std::optional<std::uint64_t> second_entries;  ///< of the second level, at the narrowest pitch
  double second_penalty_ns = 0;                 ///< of a miss in that
  std::string pages_got;
};

/// Geometry of a translation buffer: pages at pitches of page × 2^k + line. Pitches ascend.
struct TlbGeometry {
  std::uint64_t entries = 0;
  std::optional<std::uint64_t> ways, sets;
  std::uint64_t granule_bytes = 0;  ///< what an entry translates
  std::string reason;               ///< why ways and sets are not known
};

/// `base`: the same pitches over base pages, empty where `hits` are those. `huge_bytes`: the size of the pages that
/// were asked for; where both sides see the same steps, translations are base pages whatever was asked.
TlbGeometry tlb_geometry(std::span<const HitCount> hits, std::span<const HitCount> base, std::uint64_t page_bytes,
                         std::uint64_t huge_bytes);

/// How far the geometry of a translation buffer can be believed, and what that rests on.
struct TlbTrust {
  result::Grade grade = result::Grade::low;
  std::string because;
};

/// High: each of the pitches gives the number that ways and sets want, within 2 %, in two mappings at least, and huge
/// pages reach as far or farther. Medium: without the huge pages. Low: else.
TlbTrust trust_in(const TlbGeometry& geometry, std::span<const HitCount> hits, bool found_again, bool huge_agree);

/// One distance of two words that are visited one right after the other, and ns per step.
struct PairTime {
  std::uint64_t distance_bytes = 0;
  double ns = 0;
};

/// The line: the smallest distance at which the second word is as slow as the first one. Nothing where no distance is.
std::optional<std::uint64_t> line_size(std::span<const PairTime> pairs);

}  // namespace tally::memory
