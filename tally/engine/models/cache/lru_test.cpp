#include "tally/engine/models/cache/lru.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tally::models {
namespace {

using Set = std::array<std::uint64_t, 3>;

TEST(Lru, EvictsTheOldest) {
  Set set{};
  EXPECT_EQ(Lru::insert(set.data(), 3, 11), 0U);
  EXPECT_EQ(Lru::insert(set.data(), 3, 13), 0U);
  EXPECT_EQ(Lru::insert(set.data(), 3, 15), 0U);
  EXPECT_EQ(set, (Set{15, 13, 11}));
  EXPECT_EQ(Lru::insert(set.data(), 3, 17), 11U);
  EXPECT_EQ(set, (Set{17, 15, 13}));
}

TEST(Lru, AUseMakesItTheMostRecent) {
  Set set{15, 13, 11};
  Lru::use(set.data(), 3, 2);
  EXPECT_EQ(set, (Set{11, 15, 13}));
  EXPECT_EQ(Lru::insert(set.data(), 3, 17), 13U);
}

TEST(Lru, ARemovedWayIsFilledBeforeAnEviction) {
  Set set{15, 13, 11};
  Lru::remove(set.data(), 3, 1);
  EXPECT_EQ(set, (Set{15, 11, 0}));
  EXPECT_EQ(Lru::insert(set.data(), 3, 17), 0U);
  EXPECT_EQ(set, (Set{17, 15, 11}));
}

}  // namespace
}  // namespace tally::models
