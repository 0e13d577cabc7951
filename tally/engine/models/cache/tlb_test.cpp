#include "tally/engine/models/cache/tlb.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "tally/engine/models/heap_tables_testing.hpp"

namespace tally::models {
namespace {

using testing::OwnTlbs;
using testing::pages;

TlbShape small_tlbs() { return {.itlb = pages(4, 4), .dtlb = pages(4, 4), .stlb = pages(16, 8)}; }

TEST(Tlbs, PagesThatFitAreTranslatedOnce) {
  OwnTlbs own(small_tlbs());
  for (int round = 0; round < 5; ++round)
    for (std::uint64_t i = 0; i < 0x10000; i += 8) own.view.access(i, 8, Access::load);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 40960, .load_misses = 16}));
  EXPECT_EQ(own.view.counts().stlb, (LevelCounts{.loads = 16, .load_misses = 16}));
}

TEST(Tlbs, TheSecondLevelHoldsMore) {
  OwnTlbs own(small_tlbs());
  for (int round = 0; round < 5; ++round)
    for (std::uint64_t page = 0; page < 128; ++page) own.view.access(page * 4096, 8, Access::store);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.stores = 640, .store_misses = 640}));
  EXPECT_EQ(own.view.counts().stlb, (LevelCounts{.stores = 640, .store_misses = 128}));
}

TEST(Tlbs, CodeAndDataShareTheSecondLevel) {
  OwnTlbs own(small_tlbs());
  own.view.access(0x5000, 4, Access::fetch);
  own.view.access(0x5000, 4, Access::load);
  EXPECT_EQ(own.view.counts().itlb, (LevelCounts{.fetches = 1, .fetch_misses = 1}));
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 1, .load_misses = 1}));
  EXPECT_EQ(own.view.counts().stlb, (LevelCounts{.fetches = 1, .fetch_misses = 1, .loads = 1}));
}

TEST(Tlbs, AnAccessAcrossPagesIsTwoAcrossLinesOne) {
  OwnTlbs own(small_tlbs());
  own.view.access(0x5ffc, 8, Access::load);
  own.view.access(0x503c, 8, Access::load);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 3, .load_misses = 2}));
}

TEST(Tlbs, AnAccessBeyondTheLastAddressIsOne) {
  OwnTlbs own(small_tlbs());
  own.view.access(~std::uint64_t{3}, 8, Access::load);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 1, .load_misses = 1}));
}

TEST(Tlbs, AModificationIsTranslatedForBoth) {
  OwnTlbs own(small_tlbs());
  own.view.access(0x5000, 8, Access::modify);
  EXPECT_EQ(own.view.counts().dtlb, (LevelCounts{.loads = 1, .load_misses = 1, .stores = 1}));
}

// All shapes: many sets, one set, a number of sets that is not a power of two, tree pseudo-LRU.
TEST(Tlbs, BatchesMissTheSameAsSingleAccesses) {
  for (const auto& [sets, replacement] :
       {std::pair{16u, Replacement::lru}, std::pair{1u, Replacement::lru}, std::pair{3u, Replacement::lru},
        std::pair{128u, Replacement::lru}, std::pair{4u, Replacement::tree_plru}}) {
    TlbShape shape = small_tlbs();
    shape.dtlb = {sets, 4, 12, replacement, true, false};
    shape.itlb = {sets, 2, 12, replacement, true, false};
    OwnTlbs one(shape), all(shape);
    std::mt19937_64 random(sets);
    std::vector<Note> notes;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t line = (random() % (random() % 4 == 0 ? 300 : 6) << 12) + (random() % 64 << 6);
      const auto access = static_cast<Access>(random() % 4);
      one.view.access(line, 4, access);
      notes.push_back(note_of(line, access));
    }
    all.view.access_all(notes.data(), 777);
    all.view.access_all(notes.data() + 777, static_cast<std::uint32_t>(notes.size() - 777));
    const TlbCounts a = one.view.counts(), b = all.view.counts();
    EXPECT_EQ(a.dtlb.load_misses, b.dtlb.load_misses) << sets;
    EXPECT_EQ(a.dtlb.store_misses, b.dtlb.store_misses) << sets;
    EXPECT_EQ(a.itlb.fetch_misses, b.itlb.fetch_misses) << sets;
    EXPECT_EQ(a.stlb, b.stlb) << sets;
    EXPECT_GT(a.dtlb.load_misses, 100u) << sets;
  }
}

TEST(Tlbs, CountsOfThreadsAreAdded) { EXPECT_TRUE(testing::adds_all<TlbCounts>()); }

}  // namespace
}  // namespace tally::models
