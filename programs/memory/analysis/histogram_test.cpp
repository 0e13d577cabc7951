#include "programs/memory/analysis/histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tally::memory {
namespace {

TEST(Histogram, counts_every_value_in_its_bin) {
  const std::vector<double> values{1, 1, 2, 1000, 1001, 0, -1};
  const auto histogram = histogram_of(values, "write", "tails", "ns");
  ASSERT_EQ(histogram.bins.size(), 3u);
  EXPECT_EQ(histogram.bins[0], (result::MemoryHistogram::Bin{1, std::exp2(0.125), 2}));
  EXPECT_EQ(histogram.bins[1].low, 2);
  EXPECT_LE(histogram.bins[2].low, 1000);
  EXPECT_GT(histogram.bins[2].high, 1001);
  EXPECT_EQ(histogram.bins[2].count, 2);
}

}  // namespace
}  // namespace tally::memory
