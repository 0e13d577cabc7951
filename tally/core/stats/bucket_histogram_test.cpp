#include "tally/core/stats/bucket_histogram.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tally {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(Histogram, buckets_follow_each_other_without_a_gap_and_hold_what_is_in_them) {
  for (std::size_t bucket = 0; bucket < histogram_buckets; ++bucket) {
    EXPECT_EQ(bucket_of(bucket_begin(bucket)), bucket);
    EXPECT_EQ(bucket_of(bucket_end(bucket)), bucket);
    if (bucket + 1 < histogram_buckets) {
      EXPECT_EQ(bucket_begin(bucket + 1), bucket_end(bucket) + 1);
    }
  }
  EXPECT_EQ(bucket_begin(0), 0);
  EXPECT_EQ(bucket_end(histogram_buckets - 1), largest);
  EXPECT_EQ(bucket_of(largest), histogram_buckets - 1);
}

TEST(Histogram, small_numbers_are_exact_and_large_ones_known_to_a_sixteenth) {
  for (std::int64_t number = 0; number < 32; ++number) {
    EXPECT_EQ(bucket_begin(bucket_of(number)), number);
    EXPECT_EQ(bucket_end(bucket_of(number)), number);
  }
  for (std::size_t bucket = 32; bucket < histogram_buckets; ++bucket) {
    EXPECT_LT(bucket_end(bucket) - bucket_begin(bucket), bucket_begin(bucket) / 16);
  }
}

TEST(Histogram, negative_values_count_as_zero) {
  EXPECT_EQ(bucket_of(-1), 0u);
  EXPECT_EQ(bucket_of(std::numeric_limits<std::int64_t>::min()), 0u);
}

}  // namespace
}  // namespace tally
