#include "tally/memory/analysis/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace tally::memory {
namespace {

bool is_near(double a, double b, double share) { return std::abs(a - b) <= share * b; }

double product(const HitCount& one) { return static_cast<double>(one.stride_bytes) * static_cast<double>(one.lines); }

std::vector<HitCount> powers_of_two(std::span<const HitCount> hits) {
  std::vector<HitCount> some;
  for (const HitCount& one : hits) {
    if (std::has_single_bit(one.stride_bytes)) some.push_back(one);
  }
  return some;
}

// The first place from which on doubling the stride no longer halves the lines; nothing where it always does.
std::optional<std::size_t> saturation(const std::vector<HitCount>& hits) {
  for (std::size_t i = 0; i + 1 < hits.size(); ++i) {
    if (4 * hits[i + 1].lines > 3 * hits[i].lines) return i;
  }
  return std::nullopt;
}

Geometry unknown(std::string reason, double capacity) {
  return {std::nullopt, std::nullopt, static_cast<std::uint64_t>(capacity), std::move(reason)};
}

}  // namespace

std::vector<std::uint64_t> witness_strides(std::span<const HitCount> hits) {
  const auto powers = powers_of_two(hits);
  const auto place = saturation(powers);
  if (!place) return {};
  std::vector<std::uint64_t> strides;
  for (const std::uint64_t odd : {3, 5, 7}) strides.push_back(odd * powers[*place].stride_bytes);
  return strides;
}

Geometry cache_geometry(std::span<const HitCount> hits, std::uint64_t line_bytes) {
  const auto powers = powers_of_two(hits);
  if (powers.size() < 3) return unknown("too few strides were walked", 0);
  const auto place = saturation(powers);
  if (!place) return unknown("the lines that hit halve with every stride: the index is hashed", product(powers[0]));
  const double capacity = product(powers[0]);
  for (std::size_t i = 1; i <= *place; ++i) {
    if (!is_near(product(powers[i]), capacity, 0.15)) {
      return unknown(fmt::format("lines times stride is not constant (stride {})", powers[i].stride_bytes), 0);
    }
  }
  const std::uint64_t ways = powers[*place].lines;
  // Up to four doublings: further ones meet the translation buffers.
  const std::size_t last = std::min(powers.size(), *place + 4);
  for (std::size_t i = *place + 1; i < last; ++i) {
    if (powers[i].lines != ways) return unknown("the number of lines goes on changing with the stride", capacity);
  }
  for (const HitCount& one : hits) {
    if (!std::has_single_bit(one.stride_bytes) && one.lines != ways) {
      return unknown(
          fmt::format("a stride of {} bytes meets other sets: their number is no power of two", one.stride_bytes),
          capacity);
    }
  }
  return {ways, powers[*place].stride_bytes / line_bytes, static_cast<std::uint64_t>(capacity), ""};
}

TlbGeometry tlb_geometry(std::span<const HitCount> hits, std::span<const HitCount> base, std::uint64_t page_bytes,
                         std::uint64_t huge_bytes) {
  TlbGeometry result;
  if (hits.empty()) return {0, {}, {}, 0, "nothing was measured"};
  const bool as_base = base.empty() || (base.front().lines > 0 && hits.front().lines <= base.front().lines * 5 / 4);
  result.granule_bytes = as_base ? page_bytes : huge_bytes;
  const auto pitch_pages = [&](const HitCount& one) { return one.stride_bytes / result.granule_bytes; };
  std::vector<HitCount> whole;  // at least one entry for each line
  for (const HitCount& one : hits) {
    if (pitch_pages(one) >= 1) whole.push_back(one);
  }
  if (whole.empty()) {
    // Several lines share an entry: reach is all there is.
    result.entries = hits.back().lines * hits.back().stride_bytes / result.granule_bytes;
    result.reason = "no pitch was as wide as the pages";
    return result;
  }
  result.entries = whole.front().lines;
  const auto place = saturation(whole);
  if (!place) {
    result.reason = "the pages that hit halve with every pitch";
    return result;
  }
  const std::uint64_t ways = whole[*place].lines;
  for (std::size_t i = *place; i < whole.size(); ++i) {
    if (!is_near(static_cast<double>(whole[i].lines), static_cast<double>(ways), 0.15)) {
      result.reason = "the number of pages goes on changing with the pitch";
      return result;
    }
  }
  result.ways = ways;
  result.sets = std::uint64_t{1} << *place;
  result.entries = ways * *result.sets;
  return result;
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
