#include "tally/engine/models/branch/indirect.hpp"

#include <gtest/gtest.h>

namespace tally::models {
namespace {

TEST(IndirectTargets, TheSameTargetAgain) {
  IndirectTargets targets;
  EXPECT_FALSE(targets.predict(0x1000, 0x2000));
  EXPECT_TRUE(targets.predict(0x1000, 0x2000));
  EXPECT_EQ(targets.negated[0x1000 % IndirectTargets::entries] + 0x2000, 0U);
}

TEST(IndirectTargets, ChangingTargetsAreMissed) {
  IndirectTargets targets;
  int wrong = 0;
  for (int i = 0; i < 100; ++i) wrong += !targets.predict(0x1000, i % 2 == 0 ? 0x2000 : 0x3000);
  EXPECT_EQ(wrong, 100);
}

TEST(IndirectTargets, BranchesATableApartShareAnEntry) {
  IndirectTargets targets;
  targets.predict(0x1000, 0x2000);
  EXPECT_FALSE(targets.predict(0x1001, 0x2000));
  EXPECT_TRUE(targets.predict(0x1000 + IndirectTargets::entries, 0x2000));
}

}  // namespace
}  // namespace tally::models
