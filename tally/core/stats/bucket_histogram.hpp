// Histogram buckets whose width grows with the value.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally {

/// 16 buckets for each power of two: the relative width is 1/16; values up to 31 are exact.
inline constexpr std::size_t buckets_of_power = 16;
inline constexpr std::size_t histogram_buckets = buckets_of_power * (63 - 3);

/// The bucket of a value. Negative values, which subtracting the read overhead can produce, count as 0. Cost: a few
/// instructions, the same for every value.
constexpr std::size_t bucket_of(std::int64_t value) {
  const auto number = static_cast<std::uint64_t>(value < 0 ? 0 : value);
  const auto power = static_cast<std::uint32_t>(std::bit_width(number | buckets_of_power)) - 5;
  return buckets_of_power * power + static_cast<std::size_t>(number >> power);
}

/// The smallest value in a bucket.
constexpr std::int64_t bucket_begin(std::size_t bucket) {
  if (bucket < 2 * buckets_of_power) return static_cast<std::int64_t>(bucket);
  const std::size_t power = bucket / buckets_of_power - 1;
  return static_cast<std::int64_t>((bucket % buckets_of_power + buckets_of_power) << power);
}

/// The largest value in a bucket.
constexpr std::int64_t bucket_end(std::size_t bucket) {
  if (bucket < 2 * buckets_of_power) return static_cast<std::int64_t>(bucket);
  return bucket_begin(bucket) + ((std::int64_t{1} << (bucket / buckets_of_power - 1)) - 1);
}

}  // namespace tally
