// Ways, sets, line size and page size, from the number of lines at one stride that still hit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// How many lines, `stride_bytes` apart, still hit when they are walked lap after lap.
struct HitCount {
  std::uint64_t stride_bytes = 0;
  std::uint64_t lines = 0;
};

/// The geometry of a level, or the reason why it is not determined.
struct Geometry {
  std::optional<std::uint64_t> ways, sets;
  std::uint64_t capacity_bytes = 0;  ///< ways × sets × line; 0 if unknown
  std::string reason;                ///< empty if ways and sets are known
};

/// Geometry of a cache. For strides that are powers of two, lines × stride is the capacity up to stride = sets × line;
/// from that stride on, at least three strides must give the same number of lines: the ways. Up to three smaller
/// strides must agree too. Still smaller strides need hundreds of lines: they may give fewer, because other threads of
/// the core evict some, but not more. The odd multiples of the first stride that gives the ways must agree, or the
/// number of sets is not a power of two. `hits`: the powers of two ascending, then any others.
Geometry cache_geometry(std::span<const HitCount> hits, std::uint64_t line_bytes);

/// 3, 5 and 7 times the first stride that gives the ways; cache_geometry() needs their hit counts as confirmation.
std::vector<std::uint64_t> witness_strides(std::span<const HitCount> hits);

/// The number of lines at this power-of-two stride that a cache of known ways and sets holds.
std::uint64_t lines_held(const Geometry& geometry, std::uint64_t stride_bytes);

/// Strides whose hit count contradicts the geometry; all strides if the geometry is unknown.
std::vector<std::uint64_t> disturbed_strides(std::span<const HitCount> hits, std::uint64_t line_bytes);

/// The largest of several counts of one thing that another count confirms within 2 %; larger is better because other
/// programs evict entries. The middle one if none is confirmed; 0 if `counts` is empty.
std::uint64_t found_again(std::vector<std::uint64_t> counts);

/// Reach and miss cost of the first translation buffer.
struct FirstTranslations {
  double reach_bytes = 0;  ///< 0: unknown
  double miss_ns = 0;      ///< what a missed translation adds; 0: unknown
  bool operator==(const FirstTranslations&) const = default;
};

/// Hit counts and miss costs of translation buffers.
struct TlbHits {
  std::vector<HitCount> hits;  ///< pages that hit, at pitches of page × 2^k + line
  bool again = true;           ///< each number was found in at least two mappings
  double penalty_ns = 0;
  std::optional<std::uint64_t> second_entries;  ///< of the second buffer, at the smallest pitch
  double second_penalty_ns = 0;                 ///< of a miss in the second buffer
  std::string pages_got;
};

/// Geometry of a translation buffer, from pages at pitches of page × 2^k + line. Pitches ascend.
struct TlbGeometry {
  std::uint64_t entries = 0;
  std::optional<std::uint64_t> ways, sets;
  std::uint64_t granule_bytes = 0;  ///< bytes that one entry translates
  std::string reason;               ///< why ways and sets are unknown
};

/// `base`: the same pitches over base pages; empty if `hits` are base pages. `huge_bytes`: the requested page size. If
/// both see the same steps, translations are of base pages whatever was requested.
TlbGeometry tlb_geometry(std::span<const HitCount> hits, std::span<const HitCount> base, std::uint64_t page_bytes,
                         std::uint64_t huge_bytes);

/// The grade of a translation buffer's geometry, and the reason.
struct TlbTrust {
  result::Grade grade = result::Grade::low;
  std::string because;
};

/// High: each pitch gives the number that ways and sets predict, within 2 %, in at least two mappings, and huge pages
/// reach at least as far. Medium: the same without the huge pages. Low: otherwise.
TlbTrust trust_in(const TlbGeometry& geometry, std::span<const HitCount> hits, bool found_again, bool huge_agree);

/// Distance of two words that are loaded one right after the other, and ns per step.
struct PairTime {
  std::uint64_t distance_bytes = 0;
  double ns = 0;
};

/// The line size: the smallest distance at which the second word is as slow as the first. Empty if there is none.
std::optional<std::uint64_t> line_size(std::span<const PairTime> pairs);

}  // namespace tally::memory
