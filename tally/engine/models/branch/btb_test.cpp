#include "tally/engine/models/branch/btb.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tally::models {
namespace {

TEST(Btb, RemembersTheTargetOfABranch) {
  const auto btb = std::make_unique<Btb>();
  EXPECT_FALSE(btb->predict(0x1000, 0x2000));
  EXPECT_TRUE(btb->predict(0x1000, 0x2000));
  EXPECT_FALSE(btb->predict(0x1000, 0x3000));
  EXPECT_TRUE(btb->predict(0x1000, 0x3000));
}

TEST(Btb, HoldsFourBranchesOfASet) {
  const auto misses = [](std::uint64_t branches) {
    const auto btb = std::make_unique<Btb>();
    int count = 0;
    for (int round = 0; round < 10; ++round)
      for (std::uint64_t i = 0; i < branches; ++i) count += !btb->predict(0x1000 + i * Btb::sets, i);
    return count;
  };
  EXPECT_EQ(misses(4), 4);
  EXPECT_EQ(misses(5), 50);
}

TEST(Btb, HoldsFourThousandBranches) {
  const auto btb = std::make_unique<Btb>();
  int count = 0;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t pc = 0; pc < 4096; ++pc) count += !btb->predict(pc, pc + 2);
  EXPECT_EQ(count, 4096);
}

}  // namespace
}  // namespace tally::models
