#include "tally/engine/models/cache/hierarchy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tally/engine/models/cache/note.hpp"
#include "tally/engine/models/heap_tables_testing.hpp"

namespace tally::models {
namespace {

using testing::HierarchyWithTables;
using testing::lines;

// A small hierarchy: 2 KiB, 2 KiB, 8 KiB, 32 KiB.
HierarchyShape small() {
  HierarchyShape shape;
  shape.l1i = shape.l1d = lines(4, 8);
  shape.l2 = lines(16, 8);
  shape.llc = lines(32, 16);
  return shape;
}

// Loads every stride-th byte of `bytes` bytes, in `stride` rounds: `bytes` accesses in all.
LevelCounts walk(const HierarchyShape& shape, std::uint64_t bytes, std::uint64_t stride) {
  HierarchyWithTables own(shape);
  for (std::uint64_t round = 0; round < stride; ++round)
    for (std::uint64_t i = 0; i < bytes; i += stride) own.view.access(0x10000 + i, 1, Access::load);
  return own.view.counts().l1d;
}

// The RDPMC article's table without a prefetcher: bytes·min(stride, 64)/64 misses if `bytes` exceeds L1D.
TEST(Hierarchy, StrideWalkMissesEachLineOncePerRound) {
  constexpr std::uint64_t bytes = 1 << 20;
  for (std::uint64_t stride = 1; stride <= 1024; stride *= 2) {
    const LevelCounts counts = walk(small(), bytes, stride);
    EXPECT_EQ(counts.loads, bytes);
    EXPECT_EQ(counts.load_misses, bytes * std::min<std::uint64_t>(stride, 64) / 64) << stride;
  }
}

TEST(Hierarchy, AWalkThatFitsMissesEachLineOnce) {
  for (const std::uint64_t stride : {1U, 8U, 64U}) EXPECT_EQ(walk(small(), 2048, stride).load_misses, 32U) << stride;
  // The walk uses every second line: half of the sets stay empty, and the lines fit in the other half.
  EXPECT_EQ(walk(small(), 2048, 128).load_misses, 16U);
}

// A pointer chase through a working set in random order. After the first round, all accesses hit in the level that
// holds the working set, and miss in the smaller levels.
TEST(Hierarchy, PointerChaseHitsWhereTheWorkingSetFits) {
  const auto chase = [](std::uint64_t bytes) {
    std::vector<std::uint64_t> order(bytes / 64);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
    HierarchyWithTables own(small());
    for (int round = 0; round < 10; ++round)
      for (const std::uint64_t line : order) own.view.access(line * 64, 8, Access::load);
    return own.view.counts();
  };
  const HierarchyCounts in_l1 = chase(2048);
  EXPECT_EQ(in_l1.l1d.load_misses, 32U);
  const HierarchyCounts in_l2 = chase(8192);  // 32 lines per set for 8 ways, in the same order in every round
  EXPECT_EQ(in_l2.l1d.load_misses, 1280U);
  EXPECT_EQ(in_l2.l2.load_misses, 128U);
  const HierarchyCounts in_llc = chase(32768);
  EXPECT_EQ(in_llc.l2.load_misses, 5120U);
  EXPECT_EQ(in_llc.llc.load_misses, 512U);
  const HierarchyCounts nowhere = chase(65536);
  EXPECT_EQ(nowhere.llc.load_misses, 10240U);
}

TEST(Hierarchy, ASplitAccessIsTwoReferences) {
  HierarchyWithTables own(small());
  own.view.access(0x103c, 8, Access::load);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 2, .load_misses = 2}));
  own.view.access(0x1038, 8, Access::load);  // ends at the end of its line
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 3, .load_misses = 2}));
  own.view.access(0x107f, 2, Access::store);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 3, .load_misses = 2, .stores = 2, .store_misses = 1}));
  own.view.access(0x1fe0, 576, Access::store);  // an xsave: half a line, eight lines, half a line
  EXPECT_EQ(own.view.counts().l1d.stores, 12U);
}

// l1d_across is the part to subtract from l1d to count accesses: each line of an access after the first, and each
// missed line after the first missed one.
TEST(Hierarchy, AccessesAcrossLinesAreAlsoCountedSeparately) {
  HierarchyWithTables own(small());
  const auto across = [&] { return own.view.counts().l1d_across; };
  own.view.access(0x1000, 64, Access::load);
  EXPECT_EQ(across(), LevelCounts{});
  own.view.access(0x103c, 8, Access::load);  // misses its second line only
  EXPECT_EQ(across(), (LevelCounts{.loads = 1}));
  own.view.access(0x20fc, 8, Access::store);  // misses both
  EXPECT_EQ(across(), (LevelCounts{.loads = 1, .stores = 1, .store_misses = 1}));
  own.view.access(0x303c, 8, Access::modify);  // misses both
  EXPECT_EQ(across(), (LevelCounts{.loads = 2, .load_misses = 1, .stores = 2, .store_misses = 1}));
  own.view.access(0x4020, 128, Access::load);  // misses three
  EXPECT_EQ(across(), (LevelCounts{.loads = 4, .load_misses = 3, .stores = 2, .store_misses = 1}));
  own.view.access(0x6000, 1, Access::load);
  own.view.access(0x6020, 128, Access::load);  // misses two of three lines: one miss of the access
  EXPECT_EQ(across(), (LevelCounts{.loads = 6, .load_misses = 4, .stores = 2, .store_misses = 1}));
  own.view.access(0x503c, 8, Access::fetch);
  EXPECT_EQ(across().fetches, 0U);
}

TEST(Hierarchy, AModificationLoadsAndStoresAndMissesOnce) {
  HierarchyWithTables own(small());
  own.view.access(0x1000, 8, Access::modify);
  own.view.access(0x1000, 8, Access::modify);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 2, .load_misses = 1, .stores = 2, .store_misses = 0}));
  EXPECT_EQ(own.view.counts().l2, (LevelCounts{.loads = 1, .load_misses = 1}));
}

TEST(Hierarchy, ChasesAreLoadsAndCountedByTheLevelThatServesThem) {
  HierarchyWithTables own(small());
  own.view.access(0x1000, 8, Access::chase);
  own.view.access(0x1000, 8, Access::chase);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 2, .load_misses = 1}));
  EXPECT_EQ(own.view.counts().chases, (ChaseCounts{.memory = 1}));
  for (std::uint64_t line = 0x2000; line < 0x3000; line += 64) own.view.access(line, 8, Access::load);
  own.view.access(0x1000, 8, Access::chase);
  EXPECT_EQ(own.view.counts().chases, (ChaseCounts{.l2 = 1, .memory = 1}));
}

TEST(Hierarchy, LoadsThatDecideBranchesAreNoChases) {
  HierarchyWithTables own(small());
  own.view.access(0x1000, 8, Access::deciding_load);
  own.view.access(0x1000, 8, Access::deciding_load);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 2, .load_misses = 1}));
  EXPECT_EQ(own.view.counts().chases, ChaseCounts{});
  EXPECT_EQ(own.view.counts().misses.deciding_memory, 1U);
  for (std::uint64_t line = 0x2000; line < 0x3000; line += 64) own.view.access(line, 8, Access::load);
  own.view.access(0x1000, 8, Access::deciding_load);
  EXPECT_EQ(own.view.counts().misses.deciding_l2, 1U);
}

TEST(Hierarchy, StoresOfChasesAreStoresAndCountedByThemselves) {
  HierarchyWithTables own(small());
  own.view.access(0x1000, 8, Access::chase_store);
  own.view.access(0x2000, 8, Access::chase_modify);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 1, .load_misses = 1, .stores = 2, .store_misses = 1}));
  EXPECT_EQ(own.view.counts().chases, (ChaseCounts{.memory = 1}));
  EXPECT_EQ(own.view.counts().chase_stores, (ChaseCounts{.memory = 1}));
}

TEST(Hierarchy, CodeAndDataShareL2) {
  HierarchyWithTables own(small());
  own.view.access(0x1000, 4, Access::fetch);
  own.view.access(0x1000, 4, Access::load);
  EXPECT_EQ(own.view.counts().l1i, (LevelCounts{.fetches = 1, .fetch_misses = 1}));
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 1, .load_misses = 1}));
  EXPECT_EQ(own.view.counts().l2, (LevelCounts{.fetches = 1, .fetch_misses = 1, .loads = 1}));
}

TEST(Hierarchy, EachLevelReceivesTheMissesOfTheOneAbove) {
  HierarchyWithTables own(small());
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i)
    own.view.access(random() % 100'000, 1 + random() % 16, static_cast<Access>(random() % 4));
  const HierarchyCounts& counts = own.view.counts();
  EXPECT_EQ(counts.l2.references(), counts.l1i.misses() + counts.l1d.misses());
  EXPECT_EQ(counts.l2.stores, counts.l1d.store_misses);
  EXPECT_EQ(counts.llc.references(), counts.l2.misses());
  EXPECT_EQ(counts.prefetches, 0U);
}

TEST(Hierarchy, LevelsThatDoNotExistPassOn) {
  HierarchyShape shape = small();
  shape.l2 = {};
  HierarchyWithTables own(shape);
  own.view.access(0x1000, 1, Access::load);
  own.view.access(0x1000, 1, Access::load);
  EXPECT_EQ(own.view.counts().l2, LevelCounts{});
  EXPECT_EQ(own.view.counts().llc, (LevelCounts{.loads = 1, .load_misses = 1}));
}

TEST(Hierarchy, WithoutWriteAllocateStoresAllocateNothing) {
  HierarchyShape shape = small();
  shape.l1d.write_allocate = false;
  HierarchyWithTables own(shape);
  own.view.access(0x1000, 1, Access::store);
  own.view.access(0x1000, 1, Access::store);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.stores = 2, .store_misses = 2}));
  EXPECT_EQ(own.view.counts().l2, (LevelCounts{.stores = 2, .store_misses = 1}));
  own.view.access(0x1000, 1, Access::load);
  own.view.access(0x1000, 1, Access::store);
  EXPECT_EQ(own.view.counts().l1d, (LevelCounts{.loads = 1, .load_misses = 1, .stores = 3, .store_misses = 2}));
}

// One line hits in L1D repeatedly. The inclusive last level does not see these hits, so it displaces the line, and
// then also removes it from L1D.
TEST(Hierarchy, AnInclusiveLevelRemovesDisplacedLinesFromTheOthers) {
  const auto misses_of_hot_line = [](bool inclusive) {
    HierarchyShape shape = small();
    shape.l2 = {};
    shape.llc = lines(1, 16);
    shape.llc.inclusive = inclusive;
    shape.l1d = lines(1, 8);
    HierarchyWithTables own(shape);
    std::uint64_t hot = 0;
    for (std::uint64_t i = 0; i < 160; ++i) {
      const std::uint64_t before = own.view.counts().l1d.load_misses;
      own.view.access(0, 1, Access::load);
      hot += own.view.counts().l1d.load_misses - before;
      own.view.access((i + 1) * 64, 1, Access::load);
    }
    return hot;
  };
  EXPECT_EQ(misses_of_hot_line(false), 1U);
  EXPECT_EQ(misses_of_hot_line(true), 10U);  // displaced by every 16th new line
}

TEST(Hierarchy, NextLinePrefetchesAPageAfterItsFirstMiss) {
  HierarchyShape shape = small();
  shape.prefetch.next_line = true;
  constexpr std::uint64_t bytes = 1 << 20;
  for (const std::uint64_t stride : {1U, 8U, 32U})
    EXPECT_EQ(walk(shape, bytes, stride).load_misses, bytes / 4096 * stride);
  EXPECT_EQ(walk(shape, bytes, 128).load_misses, bytes / 128 * 128) << "the walk skips the line that was prefetched";
}

TEST(Hierarchy, PrefetchedLinesAreInAllLevels) {
  HierarchyShape shape = small();
  shape.prefetch.next_line = true;
  HierarchyWithTables own(shape);
  own.view.access(0x1000, 1, Access::load);
  EXPECT_EQ(own.view.counts().prefetches, 2U) << "into L1D and into L2";
  for (std::uint64_t i = 0; i < 16; ++i)
    own.view.access(0x100040 + i * 1024, 1, Access::load);  // displaces 0x1040 in L1D, L2
  const LevelCounts before = own.view.counts().llc;
  own.view.access(0x1040, 1, Access::load);
  EXPECT_EQ(own.view.counts().l1d.load_misses, 18U);
  EXPECT_EQ(own.view.counts().llc.loads, before.loads + 1);
  EXPECT_EQ(own.view.counts().llc.load_misses, before.load_misses);
}

TEST(Hierarchy, TheStreamerFillsL2AndLeavesL1Alone) {
  HierarchyShape shape = small();
  shape.prefetch.streamer = true;
  HierarchyWithTables own(shape);
  for (std::uint64_t i = 0; i < 1 << 20; i += 8) own.view.access(i, 8, Access::load);
  EXPECT_EQ(own.view.counts().l1d.load_misses, 16384U);
  EXPECT_EQ(own.view.counts().l2.load_misses, 3 * 256U);  // the first three lines of every page
  EXPECT_EQ(own.view.counts().llc.references(), own.view.counts().l2.misses()) << "prefetches are not references";
  EXPECT_EQ(own.view.counts().prefetches, 61 * 256U);
}

TEST(Hierarchy, FastHasIndependentLruFirstLevels) {
  HierarchyShape shape = small();
  shape.l1d.replacement = shape.l2.replacement = Replacement::tree_plru;
  shape.llc.inclusive = true;
  shape.prefetch = {.next_line = true, .streamer = true};
  HierarchyShape expected = small();
  expected.l2.replacement = Replacement::tree_plru;
  expected.prefetch.streamer = true;
  EXPECT_EQ(fast(shape), expected);
}

// The first level may pass its misses on later, in batches: the lower levels need only these to count the same.
TEST(Hierarchy, FastLowerLevelsNeedOnlyTheMisses) {
  HierarchyShape shape = small();
  shape.prefetch.streamer = true;
  HierarchyWithTables whole(shape);
  testing::OwnCache l1d(shape.l1d);
  std::vector<std::uint64_t> l2(table_words(shape.l2)), llc(table_words(shape.llc));
  LowerLevels lower(shape, l2.data(), llc.data());
  HierarchyCounts counts;
  std::vector<std::pair<std::uint64_t, Access>> buffer;
  std::mt19937_64 random(5);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t address = random() % 100'000 & ~std::uint64_t{7};
    const Access access = random() % 3 == 0 ? Access::store : Access::load;
    whole.view.access(address, 8, access);
    if (!l1d.cache.access(address).hit) buffer.emplace_back(address, access);
    if (buffer.size() < 1000 && i != 99'999) continue;
    for (const auto& [missed, kind] : buffer) lower.request(missed, kind, counts);
    buffer.clear();
  }
  EXPECT_EQ(counts.l2, whole.view.counts().l2);
  EXPECT_EQ(counts.llc, whole.view.counts().llc);
  EXPECT_EQ(counts.prefetches, whole.view.counts().prefetches);
}

// Accesses that hit in L1D need no page.
TEST(Hierarchy, OnlyMissesNeedTheirPages) {
  HierarchyShape shape = small();
  const auto pages = [](std::uint32_t sets, std::uint32_t ways) {
    return CacheShape{.sets = sets, .ways = ways, .line_bits = 12};
  };
  shape.misses = {.tlbs = {pages(1, 2), pages(1, 2), pages(1, 4)}, .streams = false};
  HierarchyWithTables own(shape);
  const auto load_pages = [&own](std::uint64_t first, Access access) {  // three pages with new lines
    for (std::uint64_t page : {1, 2, 3}) own.view.access(page * 4096 + first * 64, 8, access);
  };
  load_pages(0, Access::load);
  load_pages(0, Access::load);  // all hit in L1D
  EXPECT_EQ(own.view.counts().misses, (MissCounts{.walk_data = 3}));
  load_pages(1, Access::chase);
  EXPECT_EQ(own.view.counts().misses, (MissCounts{.stlb_data = 3, .stlb_chases = 3, .walk_data = 3}));
  own.view.access(9 * 4096, 8, Access::store);
  own.view.access(9 * 4096 + 64, 8, Access::store);
  own.view.access(10 * 4096, 4, Access::fetch);
  EXPECT_EQ(own.view.counts().misses,
            (MissCounts{.stlb_data = 3, .stlb_chases = 3, .walk_data = 4, .walk_fetches = 1}));
}

TEST(Hierarchy, LoadsOfStreamsAreCounted) {
  HierarchyShape shape = small();
  shape.misses.streams = true;
  const auto counts = [&shape](std::uint64_t lines, Access access) {
    HierarchyWithTables own(shape);
    for (std::uint64_t i = 0; i < 1 << 14; i += lines) own.view.access(i * 64, 8, access);
    return own.view.counts();
  };
  const HierarchyCounts walk = counts(1, Access::chase);
  EXPECT_EQ(walk.misses, (MissCounts{.stream_memory = 62 * 256})) << "all but the first two lines of each page";
  EXPECT_EQ(walk.chases, (ChaseCounts{.memory = 2 * 256}));
  EXPECT_EQ(walk.llc.load_misses, 64U * 256) << "as without";
  EXPECT_EQ(counts(5, Access::load).misses, (MissCounts{.stream_memory = 10 * 256 + 205}));
  EXPECT_EQ(counts(1, Access::busy_load).misses, (MissCounts{.stream_memory = 62 * 256, .busy_memory = 62 * 256}));
  EXPECT_EQ(counts(1, Access::store).misses, MissCounts{});
  EXPECT_EQ(counts(1, Access::fetch).misses, (MissCounts{.next_memory = 64 * 256 - 1})) << "code, across pages";
  EXPECT_EQ(counts(2, Access::fetch).misses, MissCounts{});
}

// The first level may pass its misses on later, and these may be processed level by level.
TEST(Hierarchy, BatchesCountTheSameDelays) {
  for (const CacheShape& pages :
       {CacheShape{.sets = 1, .ways = 4, .line_bits = 12}, {2, 12, 12}, {3, 4, 12}, {0, 0, 12}}) {
    HierarchyShape shape = small();
    shape.misses = {.tlbs = {pages, pages, pages}, .streams = true, .crowd = {.load = 6, .store = 27}};
    std::vector<std::uint64_t> own(LowerLevels::own_words(shape)), llc(table_words(shape.llc)), other(own.size()),
        other_llc(llc.size());
    LowerLevels one_by_one(shape, own.data(), llc.data()), batched(shape, other.data(), other_llc.data());
    HierarchyCounts expected, counts;
    std::mt19937_64 random(5);
    for (int batch = 0; batch < 100; ++batch) {
      std::vector<Note> notes;
      for (std::uint64_t line = random() % 4000; notes.size() < 500;
           line = random() % 8 == 0 ? random() % 4000 : line + 1)
        notes.push_back(note_of(line * 64, random() % 6 == 0   ? Access::busy_load
                                           : random() % 6 == 0 ? Access::updated_load
                                           : random() % 6 == 0 ? Access::deciding_load
                                                               : static_cast<Access>(random() % 5)));
      for (const Note note : notes) one_by_one.request(line_of_note(note), access_of(note), expected);
      batched.request_all(notes.data(), static_cast<std::uint32_t>(notes.size()), counts);
    }
    EXPECT_EQ(counts, expected) << pages.sets << " sets";
    EXPECT_GT(counts.misses.stream_memory, 1000U);
    EXPECT_GT(counts.misses.busy_memory, 100U);
    EXPECT_GT(counts.misses.next_memory, 100U);
    EXPECT_GT(counts.misses.crowded, 1000U);
    EXPECT_GT(counts.misses.busy_l2, 10U);
    EXPECT_GT(counts.misses.deciding_memory, 100U);
    EXPECT_EQ(counts.misses.stlb_chases + counts.misses.walk_chases > 100, pages.sets != 0);
  }
}

TEST(Hierarchy, CountsOfThreadsAreAdded) { EXPECT_TRUE(testing::adds_all<HierarchyCounts>()); }

}  // namespace
}  // namespace tally::models
