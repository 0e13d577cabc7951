#include "tally/engine/models/branch/indirect.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tally::models {
namespace {

TEST(IndirectTargets, TheSameTargetAgain) {
  IndirectTargets targets;
  EXPECT_FALSE(targets.predict(0x1000, 0x2000));
  EXPECT_TRUE(targets.predict(0x1000, 0x2000));
  EXPECT_EQ(targets.negated[IndirectTargets::index_of(0x1000)] + 0x2000, 0U);
}

TEST(IndirectTargets, ChangingTargetsAreMissed) {
  IndirectTargets targets;
  int wrong = 0;
  for (int i = 0; i < 100; ++i) wrong += !targets.predict(0x1000, i % 2 == 0 ? 0x2000 : 0x3000);
  EXPECT_EQ(wrong, 100);
}

TEST(IndirectTargets, BranchesWithTheSameFoldedAddressShareAnEntry) {
  IndirectTargets targets;
  targets.predict(0x1000, 0x2000);
  EXPECT_FALSE(targets.predict(0x1000 + IndirectTargets::entries, 0x2000));
  EXPECT_TRUE(targets.predict(0x1000 ^ IndirectTargets::entries ^ 1, 0x2000));
}

TEST(IndirectTargets, StubsOfALinkageTableUseAllEntries) {
  for (const std::uint64_t first : {0x1000U, 0x401000U, 0x402000U}) {
    std::set<unsigned> used;
    for (unsigned stub = 0; stub < IndirectTargets::entries; ++stub)
      used.insert(IndirectTargets::index_of(first + std::uint64_t{16} * stub));
    EXPECT_GE(used.size(), IndirectTargets::entries * 15 / 16) << first;
  }
}

TEST(IndirectTargets, StubsATableApartDoNotDisturbEachOther) {
  IndirectTargets targets;
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    wrong += !targets.predict(0x401020, 0x7000);
    wrong += !targets.predict(0x401220, 0x8000);
  }
  EXPECT_EQ(wrong, 2);
}

}  // namespace
}  // namespace tally::models
