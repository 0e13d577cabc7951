#include "tally/engine/models/branch/bimodal.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tally/engine/models/branch/branches_testing.hpp"

namespace tally::models {
namespace {

using testing::wrong;

TEST(Counter2, StopsAtBothEnds) {
  EXPECT_EQ(trained(0, false), 0);
  EXPECT_EQ(trained(0, true), 1);
  EXPECT_EQ(trained(2, false), 1);
  EXPECT_EQ(trained(3, true), 3);
  EXPECT_FALSE(predicts_taken(1));
  EXPECT_TRUE(predicts_taken(2));
}

TEST(Bimodal, LearnsInTwoBranches) {
  const auto bimodal = std::make_unique<Bimodal>();
  EXPECT_EQ(wrong(*bimodal, "T", 100, 0), 2U);
}

TEST(Bimodal, ALoopOfTenCostsItsExit) {
  const auto bimodal = std::make_unique<Bimodal>();
  EXPECT_EQ(wrong(*bimodal, "TTTTTTTTTN", 110, 10), 100U);
}

TEST(Bimodal, CannotLearnAlternation) {
  const auto bimodal = std::make_unique<Bimodal>();
  EXPECT_EQ(wrong(*bimodal, "TN", 110, 10), 100U);
}

TEST(Bimodal, DistantBranchesDoNotInterfere) {
  const auto bimodal = std::make_unique<Bimodal>();
  std::uint64_t count = 0;
  for (int i = 0; i < 100; ++i) {
    count += !bimodal->predict(0x1000, true);
    count += !bimodal->predict(0x1001, false);
  }
  EXPECT_EQ(count, 2U);
  // At a distance of one table length they share a counter.
  EXPECT_TRUE(bimodal->predict(0x1000 + Bimodal::entries, true));
}

}  // namespace
}  // namespace tally::models
