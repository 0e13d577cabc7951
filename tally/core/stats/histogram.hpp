// How many entries counted so much: buckets that grow with what they hold.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tally {

/// Buckets of a power of two: a number is known to a sixteenth of it, and up to 15 exactly.
inline constexpr std::size_t buckets_of_power = 16;
inline constexpr std::size_t histogram_buckets = buckets_of_power * (63 - 3);

/// Where a number is counted; what is below 0, as may be left of nothing where reading is taken off, at 0. Cost: a few
/// instructions, the same for every number.
constexpr std::size_t bucket_of(std::int64_t value) {
  const auto number = static_cast<std::uint64_t>(value < 0 ? 0 : value);
  const auto power = static_cast<std::uint32_t>(std::bit_width(number | buckets_of_power)) - 5;
  return buckets_of_power * power + static_cast<std::size_t>(number >> power);
}

/// The least number that a bucket holds.
constexpr std::int64_t bucket_begin(std::size_t bucket) {
  if (bucket < 2 * buckets_of_power) return static_cast<std::int64_t>(bucket);
  const std::size_t power = bucket / buckets_of_power - 1;
  return static_cast<std::int64_t>((bucket % buckets_of_power + buckets_of_power) << power);
}

/// The most that it holds.
constexpr std::int64_t bucket_end(std::size_t bucket) {
  if (bucket < 2 * buckets_of_power) return static_cast<std::int64_t>(bucket);
  return bucket_begin(bucket) + ((std::int64_t{1} << (bucket / buckets_of_power - 1)) - 1);
}

}  // namespace tally
