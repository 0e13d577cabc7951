#include "programs/memory/analysis/held.hpp"

#include <gtest/gtest.h>

namespace tally::memory {
namespace {

constexpr std::int64_t kib_bytes = 1024;
constexpr std::int64_t mib_bytes = 1024 * kib_bytes;

const std::vector<KnownCache> desktop{{1, 48 * kib_bytes, false}, {2, mib_bytes, false}, {3, 32 * mib_bytes, true}};

TEST(Held, only_sizes_of_the_shared_level_are_checked) {
  const HeldRange range = held_range(desktop);
  EXPECT_FALSE(range.holds(2 * mib_bytes));
  EXPECT_TRUE(range.holds(2 * mib_bytes + 64));
  EXPECT_TRUE(range.holds(16 * mib_bytes));
  EXPECT_FALSE(range.holds(16 * mib_bytes + 64));
}

TEST(Held, requires_a_shared_level) {
  for (const auto& reported :
       {std::vector<KnownCache>{}, {{1, 32 * kib_bytes, false}, {2, mib_bytes, false}}, {{3, mib_bytes, true}}}) {
    EXPECT_FALSE(held_range(reported).holds(mib_bytes / 4));
    EXPECT_FALSE(held_range(reported).holds(8 * mib_bytes));
  }
}

TEST(Held, few_loads_from_memory_are_ignored) {
  EXPECT_FALSE(held_finding({{8 << 20, 0.03}, {4 << 20, 0.0}}, desktop, 140));
  EXPECT_FALSE(held_finding({}, desktop, 140));
}

TEST(Held, more_than_a_tenth_of_the_sizes_make_a_run_contended) {
  const std::vector<HeldSize> sizes{{4 << 20, 0.03}, {6 << 20, 0.31}, {8 << 20, 0.98}};
  EXPECT_FALSE(judge_held({}, sizes, 20).contended) << "two of twenty are held";
  const RunVerdict verdict = judge_held({false, 2.5, ""}, sizes, 19);
  EXPECT_TRUE(verdict.contended);
  EXPECT_EQ(verdict.why, "others fill the shared cache (2 of 19 sizes)");
  EXPECT_EQ(verdict.cause, cache_shared);
  EXPECT_EQ(verdict.reference_moved_percent, 2.5);
  EXPECT_EQ(judge_held({true, 2.5, "3 of 19 points flagged"}, sizes, 19).why, "3 of 19 points flagged");
}

TEST(Held, one_size_and_many_are_reported) {
  EXPECT_EQ(held_finding({{8 << 20, 0.43}}, desktop, 84).value_or("").substr(0, 64),
            "at 8.000 MiB 43 % of the loads came from memory (84 ns and more)");
  EXPECT_EQ(held_finding({{8 << 20, 0.43}, {4 << 20, 0.2}, {16 << 20, 0.02}}, desktop, 84).value_or("").substr(0, 76),
            "between 4.000 MiB and 8.000 MiB up to 43 % of the loads came from memory (84");
}

TEST(Held, a_larger_capacity_is_graded_low) {
  std::vector<result::MemoryLevel> levels(3);
  levels[0].capacity_bytes = 1 << 20;
  levels[1].capacity_bytes = 14 << 20;
  for (auto& level : levels) level.grade = result::Grade::high;
  levels[1].because = "steep";
  describe_held({{4 << 20, 0.03}, {10 << 20, 0.68}}, levels);
  EXPECT_EQ(levels[0].grade, result::Grade::high);
  EXPECT_EQ(levels[1].grade, result::Grade::low);
  EXPECT_EQ(levels[1].because, "steep; from 10.00 MiB on memory served some of the loads: others fill it");
  EXPECT_EQ(levels[2].because, "");
}

}  // namespace
}  // namespace tally::memory
