#include "tally/sim/tlb.hpp"

#include <gtest/gtest.h>

#include "tally/sim/tables_testing.hpp"

namespace tally::sim {
namespace {

using testing::OwnTlbs;
using testing::pages;

TlbShape small() { return {.itlb = pages(4, 4), .dtlb = pages(4, 4), .stlb = pages(16, 8)}; }

TEST(Tlbs, PagesThatFitAreTranslatedOnce) {
  OwnTlbs own(small());
  for (int round = 0; round < 5; ++round)
    for (std::uint64_t i = 0; i < 0x10000; i += 8) own.view.access(i, 8, Access::load);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 40960, .load_misses = 16}));
  EXPECT_EQ(own.view.counts().stlb, (LevelCounts{.loads = 16, .load_misses = 16}));
}

TEST(Tlbs, TheSecondLevelHoldsMore) {
  OwnTlbs own(small());
  for (int round = 0; round < 5; ++round)
    for (std::uint64_t page = 0; page < 128; ++page) own.view.access(page * 4096, 8, Access::store);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.stores = 640, .store_misses = 640}));
  EXPECT_EQ(own.view.counts().stlb, (LevelCounts{.stores = 640, .store_misses = 128}));
}

TEST(Tlbs, CodeAndDataMeetInTheSecondLevel) {
  OwnTlbs own(small());
  own.view.access(0x5000, 4, Access::fetch);
  own.view.access(0x5000, 4, Access::load);
  EXPECT_EQ(own.view.counts().itlb, (LevelCounts{.fetches = 1, .fetch_misses = 1}));
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 1, .load_misses = 1}));
  EXPECT_EQ(own.view.counts().stlb, (LevelCounts{.fetches = 1, .fetch_misses = 1, .loads = 1}));
}

TEST(Tlbs, AnAccessAcrossPagesIsTwoAcrossLinesOne) {
  OwnTlbs own(small());
  own.view.access(0x5ffc, 8, Access::load);
  own.view.access(0x503c, 8, Access::load);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 3, .load_misses = 2}));
}

TEST(Tlbs, AModificationIsTranslatedForBoth) {
  OwnTlbs own(small());
  own.view.access(0x5000, 8, Access::modify);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 1, .load_misses = 1, .stores = 1}));
}

TEST(Tlbs, CountsOfThreadsAreAdded) { EXPECT_TRUE(testing::adds_all<TlbCounts>()); }

}  // namespace
}  // namespace tally::sim
