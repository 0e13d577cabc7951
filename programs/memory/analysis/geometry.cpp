#include "programs/memory/analysis/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

bool is_near(double a, double b, double share) { return std::abs(a - b) <= share * b; }

std::vector<HitCount> powers_of_two(std::span<const HitCount> hits) {
  std::vector<HitCount> some;
  for (const HitCount& one : hits) {
    if (std::has_single_bit(one.stride_bytes)) some.push_back(one);
  }
  return some;
}

// The first index from which doubling the stride no longer halves the lines; empty if it always does.
std::optional<std::size_t> saturation(const std::vector<HitCount>& hits) {
  for (std::size_t i = 0; i + 1 < hits.size(); ++i) {
    if (4 * hits[i + 1].lines > 3 * hits[i].lines) return i;
  }
  return std::nullopt;
}

// The start of the longest run of strides with the same number of lines: the ways. Fewer than three are chance.
std::optional<std::size_t> same_lines(const std::vector<HitCount>& hits) {
  constexpr std::size_t enough = 3;
  std::optional<std::size_t> best;
  std::size_t longest = enough - 1;
  for (std::size_t first = 0, next = 0; first < hits.size(); first = next) {
    while (next < hits.size() && hits[next].lines == hits[first].lines) ++next;
    if (next - first <= longest) continue;
    longest = next - first;
    best = first;
  }
  return best;
}

std::string counted(const HitCount& one, std::uint64_t expected, const Geometry& geometry) {
  return fmt::format("{} lines {} apart hit, but {} ways x {} sets hold {}", one.lines,
                     bytes_text(static_cast<std::int64_t>(one.stride_bytes)), *geometry.ways, *geometry.sets, expected);
}

Geometry unknown(std::string reason) { return {std::nullopt, std::nullopt, 0, std::move(reason)}; }

}  // namespace

std::vector<std::uint64_t> witness_strides(std::span<const HitCount> hits) {
  const auto powers = powers_of_two(hits);
  const auto start = same_lines(powers);
  if (!start) return {};
  std::vector<std::uint64_t> strides;
  for (const std::uint64_t odd : {3, 5, 7}) strides.push_back(odd * powers[*start].stride_bytes);
  return strides;
}

std::uint64_t lines_held(const Geometry& geometry, std::uint64_t stride_bytes) {
  return std::max(*geometry.ways, geometry.capacity_bytes / stride_bytes);
}

Geometry cache_geometry(std::span<const HitCount> hits, std::uint64_t line_bytes) {
  const auto powers = powers_of_two(hits);
  if (powers.size() < 3) return unknown("too few distances were walked");
  const auto start = same_lines(powers);
  if (!start) {
    return unknown(
        "the number of lines that hit depends on their distance at all distances: a hash selects the sets, or "
        "something else used the cache meanwhile");
  }
  const HitCount& first = powers[*start];
  Geometry geometry{first.lines, first.stride_bytes / line_bytes, first.lines * first.stride_bytes, ""};
  // The three strides before it need a few lines each, of which another thread of the core seldom evicts one. Smaller
  // strides need hundreds of lines: some may be evicted, but none is added.
  constexpr std::size_t near = 3;
  for (std::size_t i = 0; i < *start; ++i) {
    const std::uint64_t expected = lines_held(geometry, powers[i].stride_bytes);
    const bool more = static_cast<double>(powers[i].lines) > 1.15 * static_cast<double>(expected);
    const bool fewer =
        i + near >= *start && !is_near(static_cast<double>(powers[i].lines), static_cast<double>(expected), 0.15);
    if (more || fewer) return unknown(counted(powers[i], expected, geometry));
  }
  for (const HitCount& one : hits) {
    if (std::has_single_bit(one.stride_bytes) || one.lines == *geometry.ways) continue;
    return unknown(
        fmt::format("{}: perhaps the number of sets is not a power of two", counted(one, *geometry.ways, geometry)));
  }
  return geometry;
}

std::vector<std::uint64_t> disturbed_strides(std::span<const HitCount> hits, std::uint64_t line_bytes) {
  const Geometry geometry = cache_geometry(hits, line_bytes);
  std::vector<std::uint64_t> strides;
  for (const HitCount& one : hits) {
    const bool whole = geometry.ways && is_near(static_cast<double>(one.lines),
                                                static_cast<double>(lines_held(geometry, one.stride_bytes)), 0.05);
    if (!whole) strides.push_back(one.stride_bytes);
  }
  return strides;
}

std::uint64_t found_again(std::vector<std::uint64_t> counts) {
  std::sort(counts.begin(), counts.end());
  for (std::size_t i = counts.size(); i-- > 1;) {
    if (is_near(static_cast<double>(counts[i - 1]), static_cast<double>(counts[i]), 0.02)) return counts[i - 1];
  }
  return counts.empty() ? 0 : counts[counts.size() / 2];
}

TlbGeometry tlb_geometry(std::span<const HitCount> hits, std::span<const HitCount> base, std::uint64_t page_bytes,
                         std::uint64_t huge_bytes) {
  TlbGeometry result;
  if (hits.empty()) return {0, {}, {}, 0, "nothing was measured"};
  // A huge page holds hundreds of the lines; other threads of the core change the count by less than a factor of four.
  const bool as_base = base.empty() || (base.front().lines > 0 && hits.front().lines < 4 * base.front().lines);
  result.granule_bytes = as_base ? page_bytes : huge_bytes;
  const auto pitch_pages = [&](const HitCount& one) { return one.stride_bytes / result.granule_bytes; };
  std::vector<HitCount> whole;  // strides with at least one entry per line
  for (const HitCount& one : hits) {
    if (pitch_pages(one) >= 1) whole.push_back(one);
  }
  if (whole.empty()) {
    // Several lines share an entry, so only the reach is known.
    result.entries = hits.back().lines * hits.back().stride_bytes / result.granule_bytes;
    result.reason = "all distances were smaller than a page";
    return result;
  }
  result.entries = whole.front().lines;
  const auto start = saturation(whole);
  if (!start) {
    result.reason = "their number halves with each distance";
    return result;
  }
  const std::uint64_t ways = whole[*start].lines;
  for (std::size_t i = *start; i < whole.size(); ++i) {
    if (!is_near(static_cast<double>(whole[i].lines), static_cast<double>(ways), 0.15)) {
      result.reason = "for known ways, the number must be the same at all large ones";
      return result;
    }
  }
  result.ways = ways;
  result.sets = std::uint64_t{1} << *start;
  result.entries = ways * *result.sets;
  return result;
}

TlbTrust trust_in(const TlbGeometry& geometry, std::span<const HitCount> hits, bool found_again, bool huge_agree) {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  bool exact = true;
  for (std::size_t k = 0; k < hits.size(); ++k) {
    const std::uint64_t expected = std::max(geometry.ways.value_or(0), geometry.entries >> k);
    exact = exact && is_near(static_cast<double>(hits[k].lines), static_cast<double>(expected), 0.02);
    least = std::min(least, hits[k].lines);
    most = std::max(most, hits[k].lines);
  }
  std::string because = least == most ? fmt::format("{} pages hit at each of {} distances", most, hits.size())
                                      : fmt::format("{} to {} pages hit at {} distances", least, most, hits.size());
  if (!geometry.ways) return {result::Grade::low, because + ": " + geometry.reason};
  because += found_again ? ", in at least two mappings" : ", but not the same number in any two mappings";
  if (!exact) return {result::Grade::low, because + "; for known ways and sets they must be stable"};
  if (!found_again) return {result::Grade::low, because};
  return {huge_agree ? result::Grade::high : result::Grade::medium, because};
}

std::optional<std::uint64_t> line_size(std::span<const PairTime> pairs) {
  if (pairs.size() < 2) return std::nullopt;
  const double together = pairs.front().ns;
  double apart = 0;
  for (const PairTime& one : pairs) apart = std::max(apart, one.ns);
  if (apart < 1.2 * together) return std::nullopt;
  for (const PairTime& one : pairs) {
    if (one.ns > (together + apart) / 2) return one.distance_bytes;
  }
  return std::nullopt;
}

}  // namespace tally::memory
