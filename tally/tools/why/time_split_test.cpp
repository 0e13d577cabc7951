#include "tally/tools/why/time_split.hpp"

#include <gtest/gtest.h>

namespace tally::why {
namespace {

using std::chrono::milliseconds;

TEST(TimeSplit, parts_add_up_to_the_exact_time_and_have_an_interval) {
  const TimeSplit split = split_of(300, 400, "400 samples of another native run");
  const Count user = part_of(milliseconds(100), split, true, ""), system = part_of(milliseconds(100), split, false, "");
  EXPECT_EQ(*user.value + *system.value, Nanoseconds(milliseconds(100)).count());
  EXPECT_EQ(user.value, 75'000'000);
  EXPECT_EQ(user.trust, Trust::estimated);
  EXPECT_NEAR(*user.error_percent, 5.97, 0.02) << "Wilson's interval of 300 of 400 is 70.5 to 79.0 %";
  EXPECT_NEAR(*system.error_percent, 3 * *user.error_percent, 0.01) << "the same time, of a third";
  EXPECT_EQ(user.reason,
            "part of 100.00 ms in user and kernel mode together, which is exact, by 400 samples of another native run; "
            "from a native run");
}

TEST(TimeSplit, few_ticks_have_a_wide_interval) {
  const TimeSplit split = split_of_ticks(milliseconds(60), milliseconds(40));
  EXPECT_LT(split.low, 0.45);
  EXPECT_GT(split.high, 0.73);
  const Count none = part_of(milliseconds(100), split_of(10, 10, "10 ticks"), false, "");
  EXPECT_EQ(none.value, 0);
  EXPECT_FALSE(none.error_percent);
  EXPECT_NE(none.reason.find("10 ticks: 0.00 ms to 27.75 ms"), std::string::npos) << none.reason;
}

}  // namespace
}  // namespace tally::why
