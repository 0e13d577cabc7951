// Sizes of the public structs: programs that were compiled with release 0.9.0 contain them.
#include <gtest/gtest.h>

#include "tally/library/tally.hpp"

namespace tally {
namespace {

#if defined __GLIBCXX__ && defined __LP64__
TEST(Layout, has_the_sizes_of_release_0_9_0) {
  EXPECT_EQ(sizeof(Counters), 16u);
  EXPECT_EQ(sizeof(Expected<Counters>), 88u);
  EXPECT_EQ(sizeof(Correction), 40u);
  EXPECT_EQ(sizeof(Count), 224u);
  EXPECT_EQ(sizeof(CountSource), 40u);
  EXPECT_EQ(sizeof(Error), 80u);
  EXPECT_EQ(sizeof(EventName), 40u);
  EXPECT_EQ(sizeof(EventValue), 264u);
  EXPECT_EQ(sizeof(Literal), 16u);
  EXPECT_EQ(sizeof(Options), 56u);
  EXPECT_EQ(sizeof(Ratio), 88u);
  EXPECT_EQ(sizeof(Reading), 24u);
  EXPECT_EQ(sizeof(RegionBucket), 24u);
  EXPECT_EQ(sizeof(RegionCounts), 80u);
  EXPECT_EQ(sizeof(RegionEvent), 352u);
  EXPECT_EQ(sizeof(RegionMetric), 272u);
  EXPECT_EQ(sizeof(RegionResult), 136u);
  EXPECT_EQ(sizeof(RegionThread), 88u);
  EXPECT_EQ(sizeof(Values), 24u);
  EXPECT_EQ(offsetof(detail::Open, start) + 8 * sizeof(std::int64_t), 104u);  // the rest is unused for its programs
}
#endif

}  // namespace
}  // namespace tally
