#include "tally/engine/models/cache/tree_plru.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tally::models {
namespace {

// A full set of `ways` tags 1, 3, 5 …, used in that order.
std::vector<std::uint64_t> full(std::uint32_t ways) {
  std::vector<std::uint64_t> set(TreePlru::words(ways));
  for (std::uint32_t way = 0; way < ways; ++way) EXPECT_EQ(TreePlru::insert(set.data(), ways, way * 2 + 1), 0U);
  return set;
}

TEST(TreePlru, FourWaysByHand) {
  auto set = full(4);  // used 0 1 2 3: both tree levels point to the left
  EXPECT_EQ(TreePlru::victim(set.data(), 4), 0U);
  TreePlru::use(set.data(), 4, 0);  // root to the right, where 3 was used last
  EXPECT_EQ(TreePlru::victim(set.data(), 4), 2U);
  TreePlru::use(set.data(), 4, 2);  // root to the left, where 0 was used last
  EXPECT_EQ(TreePlru::victim(set.data(), 4), 1U);
}

TEST(TreePlru, DiffersFromLru) {
  auto set = full(4);
  // LRU would replace 1 after 0 2 3 0; the tree records that the last use was on the left and replaces a way on the
  // right.
  for (const std::uint32_t place : {0U, 2U, 3U, 0U}) TreePlru::use(set.data(), 4, place);
  EXPECT_EQ(TreePlru::victim(set.data(), 4), 2U);
}

TEST(TreePlru, NeverTheLastOneUsed) {
  for (const std::uint32_t ways : {1U, 2U, 3U, 7U, 8U, 12U, 20U, 64U}) {
    auto set = full(ways);
    for (std::uint32_t place = 0; place < ways; ++place) {
      TreePlru::use(set.data(), ways, place);
      if (ways > 1) {
        EXPECT_NE(TreePlru::victim(set.data(), ways), place) << ways;
      }
      EXPECT_LT(TreePlru::victim(set.data(), ways), ways);
    }
  }
}

// Insertions alone are round robin: with any number of ways, each tag is displaced once in as many insertions.
TEST(TreePlru, EveryWayHasItsTurn) {
  for (const std::uint32_t ways : {2U, 4U, 8U, 16U, 64U}) {
    auto set = full(ways);
    std::set<std::uint64_t> displaced;
    for (std::uint32_t i = 0; i < ways; ++i) displaced.insert(TreePlru::insert(set.data(), ways, 1001 + i * 2));
    EXPECT_EQ(displaced.size(), ways);
    EXPECT_LT(*displaced.rbegin(), 1001U);
  }
}

TEST(TreePlru, ARemovedWayIsFilledBeforeAnEviction) {
  auto set = full(8);
  TreePlru::remove(set.data(), 8, 5);
  EXPECT_EQ(TreePlru::insert(set.data(), 8, 99), 0U);
  EXPECT_EQ(set[5], 99U);
}

}  // namespace
}  // namespace tally::models
