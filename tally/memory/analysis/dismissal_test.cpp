#include "tally/memory/analysis/dismissal.hpp"

#include <gtest/gtest.h>

#include "tally/memory/analysis/levels.hpp"

namespace tally::memory {
namespace {

TEST(Dismissal, a_step_of_translations_goes_away_by_page) {
  EXPECT_TRUE(rises({4.06, 5.32}));
  EXPECT_TRUE(goes_away_by_page({4.01, 4.11}, 4.06));
}

TEST(Dismissal, a_step_of_a_cache_does_not) {
  EXPECT_FALSE(goes_away_by_page({1.08, 2.4}, 1.08));
  // Prefetchers flatter both sides of a later one.
  EXPECT_FALSE(goes_away_by_page({7, 16}, 14.4));
}

// As seen on a virtual machine: for a moment others had the whole last level, so that memory was on both sides.
TEST(Dismissal, a_level_that_is_away_for_a_moment_is_no_step_of_translations) {
  EXPECT_FALSE(goes_away_by_page({62, 65}, 15.5));
}

// A neighbour in the core has a part of the first level: the last size of its plateau is walked as slowly as the next.
TEST(Dismissal, plateaus_are_walked_in_their_middle) {
  const Curve curve{{4096, 1, false}, {8192, 1, false}, {16384, 1, false}, {65536, 1, false}};
  EXPECT_DOUBLE_EQ(middle_bytes(curve, {0, 3, 1}), 16384);
  EXPECT_DOUBLE_EQ(middle_bytes(curve, {0, 2, 1}), 8192);
}

}  // namespace
}  // namespace tally::memory
