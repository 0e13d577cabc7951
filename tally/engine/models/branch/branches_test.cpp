#include "tally/engine/models/branch/branches.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tally/engine/models/branch/missed_branches.hpp"
#include "tally/engine/models/heap_tables_testing.hpp"

namespace tally::models {
namespace {

TEST(Branches, EachKindIsCountedSeparately) {
  const auto branches = std::make_unique<Branches>();
  branches->conditional(0x1004, true);   // new: wrong
  branches->conditional(0x1010, false);  // as the initial counters predict
  branches->call(0x1025);
  branches->ret(0x1025);
  branches->indirect_call(0x1030, 0x3000, 0x1032);  // not in a table
  branches->ret(0x1032);
  branches->indirect_jump(0x1030, 0x3000);  // the same target as the last time
  branches->ret(0x5000);                    // no call
  BranchCounts expected;
  expected.conditional = 2;
  expected.conditional_misses = 1;
  expected.indirect = 2;
  expected.indirect_misses = 1;
  expected.returns = 3;
  expected.return_misses = 1;
  EXPECT_EQ(branches->counts(), expected);
  EXPECT_EQ(branches->counts().misses(), 3U);
}

TEST(Branches, CountsOfThreadsAreAdded) { EXPECT_TRUE(testing::adds_all<BranchCounts>()); }

TEST(MissedBranches, EachDirectionOfABranchCounts) {
  const std::vector<Outcome> wrong{outcome_of(0x1000, true), outcome_of(0x1000, false), indirect_outcome_of(0x2000),
                                   0x4000, outcome_of(0x1000, true)};
  MissedBranches missed;
  missed.add_all(wrong.data(), wrong.size());
  EXPECT_EQ(missed.all, 4U);
  EXPECT_EQ(missed.indirect, 1U);
  EXPECT_EQ(missed.of(indirect_outcome_of(0x2000)), 1U);
  EXPECT_EQ(missed.of(target_outcome_of(0x4000)), 1U) << "an indirect one also by its target";
  EXPECT_EQ(missed.of(outcome_of(0x1000, true)), 2U);
  EXPECT_EQ(missed.of(outcome_of(0x1000, false)), 1U);
  EXPECT_EQ(missed.of(outcome_of(0x3000, true)), 0U);
}

TEST(MissedBranches, FrequentBranchesKeepTheirSlotsAmongManyRareOnes) {
  MissedBranches missed, other;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Outcome wrong[] = {outcome_of(0x1000, true), outcome_of(0x10'0000 + 16 * i, false)};
    missed.add_all(wrong, 2);
  }
  EXPECT_EQ(missed.all, 200'000U);
  EXPECT_GT(missed.of(outcome_of(0x1000, true)), 99'000U);
  other.add(missed);
  other.add(missed);
  EXPECT_EQ(other.all, 400'000U);
  EXPECT_GT(other.of(outcome_of(0x1000, true)), 198'000U) << "also of several threads";
}

TEST(MissedBranches, TargetsTakeNoSlotsOfConditionalBranches) {
  MissedBranches missed;
  for (std::uint64_t i = 0; i < 50; ++i) missed.add(outcome_of(0x1000, true), 1);
  for (std::uint64_t i = 0; i < 100'000; ++i) missed.add(target_outcome_of(0x10'0000 + 16 * i), 1);
  EXPECT_EQ(missed.of(outcome_of(0x1000, true)), 50U);
}

}  // namespace
}  // namespace tally::models
