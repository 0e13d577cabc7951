#include "tally/engine/models/branch/branches.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tally/engine/models/heap_tables_testing.hpp"

namespace tally::models {
namespace {

TEST(Branches, EachKindIsCountedSeparately) {
  const auto branches = std::make_unique<Branches>(Direction::gshare);
  branches->conditional(0x1000, 0x1100, true);   // new: wrong, and its target is not in the BTB
  branches->conditional(0x1010, 0x1100, false);  // as the initial counters predict
  branches->call(0x1020, 0x2000, 0x1025);        // not in the BTB
  branches->ret(0x1025);
  branches->indirect_call(0x1030, 0x3000, 0x1032);  // not in the table
  branches->ret(0x1032);
  branches->indirect_jump(0x1030, 0x3000);  // the same target as the last time
  branches->jump(0x1040, 0x1000);           // not in the BTB
  branches->ret(0x5000);                    // no call
  BranchCounts expected;
  expected.conditional = 2;
  expected.conditional_misses = 1;
  expected.indirect = 2;
  expected.indirect_misses = 1;
  expected.returns = 3;
  expected.return_misses = 1;
  expected.btb_misses = 3;
  EXPECT_EQ(branches->counts(), expected);
  EXPECT_EQ(branches->counts().misses(), 3U);
}

// An alternating branch, which only the bimodal predictor cannot learn.
TEST(Branches, UsesTheSelectedDirectionPredictor) {
  const auto misses = [](Direction direction) {
    const auto branches = std::make_unique<Branches>(direction);
    for (int i = 0; i < 1000; ++i) branches->conditional(0x1000, 0x2000, i % 2 == 0);
    return branches->counts().conditional_misses;
  };
  EXPECT_GE(misses(Direction::bimodal), 490U);
  EXPECT_LE(misses(Direction::gshare), 20U);
  EXPECT_LE(misses(Direction::tage), 20U);
}

// Loops of 30 in a loop: gshare's 14 outcomes do not reach from one exit to the next, TAGE's do.
TEST(Branches, TageRemembersLongerThanGshare) {
  const auto misses = [](Direction direction) {
    const auto branches = std::make_unique<Branches>(direction);
    for (int i = 0; i < 30'000; ++i) branches->conditional(0x1000, 0x0ff0, i % 30 != 29);
    return branches->counts().conditional_misses;
  };
  EXPECT_GE(misses(Direction::gshare), 990U);
  EXPECT_LE(misses(Direction::tage), 100U);
}

TEST(Branches, CountsOfThreadsAreAdded) { EXPECT_TRUE(testing::adds_all<BranchCounts>()); }

}  // namespace
}  // namespace tally::models
