#include "tally/core/stats/median.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tally::stats {
namespace {

TEST(Median, is_the_middle_value_or_the_mean_of_two) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(wide_median({}), 0);
  EXPECT_EQ(wide_median({9007199254740993, 9007199254740993}), 9007199254740993);
}

TEST(Median, of_whole_numbers_is_rounded_down_and_never_overflows) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(whole_median({}), 0);
  EXPECT_EQ(whole_median({7, 1, 3}), 3);
  EXPECT_EQ(whole_median({1, 2}), 1);
  EXPECT_EQ(whole_median({-2, -1}), -2);
  EXPECT_EQ(whole_median({least, most}), -1);
  EXPECT_EQ(whole_median({most, most - 2}), most - 1);
}

}  // namespace
}  // namespace tally::stats
