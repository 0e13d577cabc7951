#include "tally/core/stats/ranks.hpp"

#include <gtest/gtest.h>

#include "tally/core/stats/portable_random.hpp"

namespace tally::stats {
namespace {

// Of the 20 orders of three and three values, one has U = 0 on each side.
TEST(MannWhitney, is_exact_for_short_series) {
  EXPECT_NEAR(mann_whitney({1, 2, 3}, {4, 5, 6}), 0.1, 1e-12);
  EXPECT_NEAR(mann_whitney({4, 5, 6}, {1, 2, 3}), 0.1, 1e-12);
  EXPECT_NEAR(mann_whitney({1, 2, 3, 4}, {5, 6, 7, 8}), 2.0 / 70, 1e-12);
  EXPECT_NEAR(mann_whitney({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 2.0 / 252, 1e-12);
  // U = 2 of {1, 2, 5} and {3, 4, 6}: orders with U of 0, 1 and 2 are 1, 1 and 2 of 20.
  EXPECT_NEAR(mann_whitney({1, 2, 5}, {3, 4, 6}), 2 * 4.0 / 20, 1e-12);
}

TEST(MannWhitney, of_equal_series_finds_nothing) {
  EXPECT_EQ(mann_whitney({}, {1}), 1);
  EXPECT_EQ(mann_whitney({7, 7, 7}, {7, 7, 7, 7}), 1);
  EXPECT_EQ(mann_whitney({1, 2, 3}, {1, 2, 3}), 1);
}

// Ties leave fewer different sums: of 252 choices, one has the five low ranks and one the five high ones.
TEST(MannWhitney, is_exact_with_ties) {
  EXPECT_NEAR(mann_whitney({1, 1, 1, 1, 1}, {2, 2, 2, 3, 3}), 2.0 / 252, 1e-12);
  // Doubled ranks 3, 3, 6, 8: of six pairs {3, 3} and {6, 8} are as far from the mean of 10 as {3, 3}.
  EXPECT_NEAR(mann_whitney({1, 1}, {2, 3}), 2.0 / 6, 1e-12);
}

// A textbook case with ties: U = 5.5 of n = 6, m = 6.
TEST(MannWhitney, corrects_for_ties) {
  const double p = mann_whitney({1, 1, 2, 2, 3, 4}, {3, 4, 5, 5, 6, 7});
  EXPECT_GT(p, 0.01);
  EXPECT_LT(p, 0.03);
}

TEST(MannWhitney, has_its_level) {
  discover::Random random(1, {1});
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> a, b;
    for (int j = 0; j < 10; ++j) a.push_back(random.normal()), b.push_back(random.normal());
    found += mann_whitney(a, b) < 0.05;
  }
  EXPECT_GT(found, 50);
  EXPECT_LT(found, 130);
}

// 5 and 5 values: P(U ≤ 0) = 1/252 < 0.5 %, P(U ≤ 1) = 2/252 > 0.5 %, so the interval is all 25 differences.
TEST(ShiftInterval, is_of_the_differences_that_the_test_does_not_reject) {
  const auto shift = shift_interval({1, 2, 3, 4, 5}, {11, 12, 13, 14, 15});
  ASSERT_TRUE(shift);
  EXPECT_EQ(shift->low, 6);
  EXPECT_EQ(shift->high, 14);
  EXPECT_FALSE(shift_interval({1, 2, 3, 4}, {5, 6, 7, 8}));  // P(U ≤ 0) = 1/70
  EXPECT_FALSE(shift_interval({}, {4, 5, 6}));
}

TEST(ShiftInterval, covers_the_difference) {
  discover::Random random(3, {1});
  for (const int n : {10, 30}) {
    int covered = 0;
    for (int i = 0; i < 1000; ++i) {
      std::vector<double> a, b;
      for (int j = 0; j < n; ++j) a.push_back(random.normal()), b.push_back(0.7 + random.normal());
      const auto shift = shift_interval(a, b);
      covered += shift->low <= 0.7 && 0.7 <= shift->high;
    }
    EXPECT_GE(covered, 980) << n;
    EXPECT_LE(covered, 999) << n;
  }
}

TEST(BenjaminiHochberg, adjusts_in_order) {
  const auto adjusted = benjamini_hochberg({0.01, 0.04, 0.03, 0.5});
  EXPECT_NEAR(adjusted[0], 0.04, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.04 * 4 / 3, 1e-12);  // 0.03 · 4 / 2 = 0.06 is limited by the next
  EXPECT_NEAR(adjusted[1], 0.04 * 4 / 3, 1e-12);
  EXPECT_NEAR(adjusted[3], 0.5, 1e-12);
  EXPECT_TRUE(benjamini_hochberg({}).empty());
}

}  // namespace
}  // namespace tally::stats
