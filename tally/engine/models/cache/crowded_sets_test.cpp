#include "tally/engine/models/cache/crowded_sets.hpp"

#include <gtest/gtest.h>

namespace tally::models {
namespace {

constexpr CacheShape twelve_ways{.sets = 64, .ways = 12};
constexpr CrowdTimes zen5{.load = 6, .store = 27};
constexpr std::uint64_t line_step = 64, same_set = 4096;

// Passes `rounds` of `lines` misses, `step` bytes apart; returns what the last one crowd.
CrowdedSets::Crowd after(unsigned rounds, unsigned lines, std::uint64_t step) {
  CrowdedSets sets;
  CrowdedSets::Crowd crowd{};
  for (unsigned i = 0; i < rounds * lines; ++i) crowd = sets.pass(i % lines * step, twelve_ways);
  return crowd;
}

TEST(CrowdedSets, HaveMoreLinesUnderWayThanWays) {
  EXPECT_EQ(after(4, 1000, same_set).lines, CrowdedSets::window);
  EXPECT_EQ(after(4, 1000, 8 * line_step).lines, CrowdedSets::window / 8);
  EXPECT_EQ(after(4, 1000, 4 * line_step).lines, CrowdedSets::window / 16) << "half full";
  EXPECT_EQ(after(4, 1000, line_step).lines, 0U);
}

TEST(CrowdedSets, CountEachLineOnce) {
  EXPECT_EQ(after(10, 16, same_set).lines, 16U);
  EXPECT_EQ(after(10, 13, same_set).lines, 13U);
  EXPECT_EQ(after(10, 6, same_set).lines, 0U) << "half of the ways";
}

TEST(CrowdedSets, FindNeighboursAmongTheLastLines) {
  EXPECT_FALSE(after(1, 1000, line_step).is_far);
  EXPECT_TRUE(after(1, 1000, 2 * line_step).is_far);
  CrowdedSets sets;
  for (unsigned i = 0; i < 40; ++i)
    EXPECT_EQ(sets.pass((1 + i % 4) * 100'000'000 + i / 4 * line_step, twelve_ways).is_far, i < 4) << "four streams";
}

TEST(CrowdedSets, AreNotFollowedInLevelsWithoutThem) {
  CrowdedSets sets;
  EXPECT_EQ(sets.pass(0, {}).lines, 0U);
  EXPECT_FALSE(sets.pass(0, {.sets = 48, .ways = 1}).is_far) << "no power of two";
}

TEST(CrowdedSets, DelayAccessesByTheShareOfLinesWithoutRoom) {
  CrowdedSets sets;
  const auto longer = [&](unsigned lines, bool loads, bool stores) {
    return sets.longer({lines, false}, twelve_ways.ways, loads, stores, true, zen5);
  };
  EXPECT_EQ(longer(CrowdedSets::window, true, false), 6U);
  EXPECT_EQ(longer(CrowdedSets::window, false, false), 0U);
  unsigned stores = 0;
  for (int i = 0; i < 4; ++i) stores += longer(24, false, true);
  EXPECT_EQ(stores, 4 * 27 / 2U);
}

TEST(CrowdedSets, DelayLoadsThatNothingHidesByHalfACycleIfTheyAreHalfFull) {
  CrowdedSets sets;
  unsigned plain = 0, hidden = 0, alone = 0;
  for (int i = 0; i < 10; ++i) plain += sets.longer({8, true}, 12, true, false, false, zen5);
  for (int i = 0; i < 10; ++i) hidden += sets.longer({8, true}, 12, true, false, true, zen5);
  for (int i = 0; i < 10; ++i) alone += sets.longer({0, true}, 12, true, false, false, zen5);
  EXPECT_EQ(plain, 5U);
  EXPECT_EQ(alone, 0U);
  EXPECT_EQ(hidden, 0U);
}

}  // namespace
}  // namespace tally::models
