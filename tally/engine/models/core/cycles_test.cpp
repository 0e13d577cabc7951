#include "tally/engine/models/core/cycles.hpp"

#include <gtest/gtest.h>

namespace tally::models {
namespace {

constexpr Latencies latencies{.l2 = 12, .llc = 36, .memory = 200, .stlb = 7, .walk = 30, .mispredict = 15};
constexpr CacheShape level{.sets = 1, .ways = 1};
constexpr HierarchyShape all{.l1i = level, .l1d = level, .l2 = level, .llc = level, .prefetch = {}};
constexpr LoadWaits in_order{.hit = 5}, out_of_order{.hit = 5, .lead = 15};

TEST(MissCycles, EachLevelAddsItsLatencyBeyondL1) {
  HierarchyCounts caches;
  caches.l1d = {.loads = 1000, .load_misses = 100, .stores = 500, .store_misses = 50};
  caches.l2 = {.loads = 100, .load_misses = 30, .stores = 50, .store_misses = 50};
  caches.llc = {.loads = 30, .load_misses = 10, .stores = 50, .store_misses = 50};
  EXPECT_EQ(miss_cycles(latencies, in_order, all, caches, {}).sum(), 70U * 7 + 20 * 31 + 10 * 195);
}

TEST(MissCycles, StoresWaitOnlyIfTheyAreChases) {
  HierarchyCounts caches;
  caches.l2 = {.stores = 100, .store_misses = 30};
  caches.llc = {.stores = 30, .store_misses = 10};
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).sum(), 0U);
  caches.chase_stores = {.l2 = 50, .llc = 15, .memory = 4};
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).sum(), 50U * 7 + 15 * 31 + 4 * 195);
}

TEST(MissCycles, StoresOfLinesBeyondL2WaitForTwoThirdsOfTheirTime) {
  HierarchyCounts caches;
  caches.l2 = {.stores = 100, .store_misses = 30};
  caches.llc = {.stores = 30, .store_misses = 10};
  caches.chase_stores.memory = 4;
  Latencies with_lines = latencies;
  with_lines.memory_line = 9, with_lines.llc_line = 3;
  EXPECT_EQ(miss_cycles(with_lines, out_of_order, all, caches, {}).sum(), 4U * 195 + 6 * 6 + 20 * 2);
}

TEST(MissCycles, CrowdedSetsAddCyclesAndBusyLoadsHideL2) {
  HierarchyCounts caches;
  caches.l2 = {.loads = 100};
  Latencies with_lines = latencies;
  with_lines.l2_line = 2;
  EXPECT_EQ(miss_cycles(with_lines, out_of_order, all, caches, {}).of(Cause::l2), 200U);
  caches.misses = {.busy_l2 = 60, .crowded = 500};
  EXPECT_EQ(miss_cycles(with_lines, out_of_order, all, caches, {}).of(Cause::l2), 40U * 2 + 500);
}

// Weights of the counts are differences of two such sums, also of counts that cannot occur.
TEST(MissCycles, EachCountHasAWeight) {
  Latencies with_lines = latencies;
  with_lines.memory_line = 9;
  const auto cycles = [&](std::uint64_t chases) {
    HierarchyCounts caches;
    caches.chase_stores.memory = chases;
    return static_cast<std::int64_t>(miss_cycles(with_lines, out_of_order, all, caches, {}).sum());
  };
  EXPECT_EQ(cycles(1024) - cycles(0), 1024 * (195 - 6));
}

TEST(MissCycles, MemoryMayHaveMoreMissesUnderWayThanOtherLevels) {
  HierarchyCounts caches;
  caches.l2 = {.loads = 100, .load_misses = 100};
  caches.llc = {.loads = 100, .load_misses = 100};
  Latencies wide = latencies;
  wide.memory_parallel = 12;
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).sum(), 100U * 45);
  EXPECT_EQ(miss_cycles(wide, out_of_order, all, caches, {}).sum(), 100U * 15);
}

TEST(MissCycles, FetchesStallToo) {
  HierarchyCounts caches;
  caches.l1i = {.fetches = 1000, .fetch_misses = 10};
  caches.l2 = {.fetches = 10, .fetch_misses = 0};
  EXPECT_EQ(miss_cycles(latencies, in_order, all, caches, {}).sum(), 10U * 7);
}

TEST(MissCycles, TheLastExistingLevelMissesIntoMemory) {
  HierarchyCounts caches;
  caches.l1d = {.loads = 1000, .load_misses = 100};
  HierarchyShape shape{};
  shape.l1i = shape.l1d = level;
  EXPECT_EQ(miss_cycles(latencies, in_order, shape, caches, {}).sum(), 100U * 195);
  caches.l2 = {.loads = 100, .load_misses = 30};
  shape.l2 = level;
  EXPECT_EQ(miss_cycles(latencies, in_order, shape, caches, {}).sum(), 70U * 7 + 30 * 195);
}

TEST(MissCycles, ALatencyOfZeroAddsNothing) {
  HierarchyCounts caches;
  caches.l1d = {.loads = 1000, .load_misses = 100};
  caches.l2 = {.loads = 100, .load_misses = 30};
  EXPECT_EQ(miss_cycles({}, in_order, all, caches, {}).sum(), 0U);
}

TEST(MissCycles, OutOfOrderOtherInstructionsHideMissesAndTheRestOverlaps) {
  HierarchyCounts caches;
  caches.l2 = {.fetches = 5, .fetch_misses = 0, .loads = 100, .load_misses = 30};
  caches.llc = {.loads = 30, .load_misses = 10};
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).sum(), 5U * 1 + 20 * 4 + 10 * 45);
}

TEST(MissCycles, OnlyFetchesFromTheSecondLevelOverlap) {
  HierarchyCounts caches;
  caches.l2 = {.fetches = 100, .fetch_misses = 30};
  caches.llc = {.fetches = 30, .fetch_misses = 10};
  caches.misses = {.stlb_fetches = 8, .walk_fetches = 3};
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).of(Cause::front_end),
            70U * 1 + 20 * 31 + 10 * 195 + 8 * 1 + 3 * 30);
}

TEST(MissCycles, ChasesWaitForTheirWholeLatency) {
  HierarchyCounts caches;
  caches.l2 = {.loads = 100, .load_misses = 30};
  caches.llc = {.loads = 30, .load_misses = 10};
  caches.chases = {.l2 = 50, .llc = 15, .memory = 4};
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).sum(), 50U * 7 + 15 * 31 + 5 * 4 + 4 * 195 + 6 * 45);
  EXPECT_EQ(miss_cycles(latencies, in_order, all, caches, {}).sum(), 70U * 7 + 20 * 31 + 10 * 195);
}

TEST(MissCycles, TranslationsAndPredictions) {
  HierarchyCounts caches;
  caches.misses = {.stlb_data = 6, .stlb_chases = 2, .walk_data = 9, .walk_chases = 1};
  BranchCounts branches;
  branches.conditional_misses = 2;
  branches.return_misses = 1;
  EXPECT_EQ(miss_cycles(latencies, in_order, all, caches, branches).sum(), 6U * 7 + 9 * 30 + 3 * 15);
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).sum(), 2U * 7 + 30 + 8 * 4);
  EXPECT_EQ(miss_cycles(latencies, in_order, all, {}, {}).sum(), 0U);
}

TEST(MissCycles, NoMissIsShorterThanItsLine) {
  Latencies wide = latencies;
  wide.l2_line = 2, wide.llc_line = 5, wide.memory_line = 50;
  HierarchyCounts caches;
  caches.l2 = {.loads = 100, .load_misses = 30, .stores = 9, .store_misses = 4};
  caches.llc = {.loads = 30, .load_misses = 10, .stores = 4, .store_misses = 1};
  caches.chases = {.l2 = 50, .llc = 15, .memory = 4};
  EXPECT_EQ(miss_cycles(wide, out_of_order, all, caches, {}).sum(),
            50U * 7 + 20 * 2 + 15 * 31 + 5 * 5 + 4 * 195 + 6 * 50 + 50 * 2 / 3 + 3 * (5 * 2 / 3));
}

TEST(MissCycles, LoadsOfStreamsWaitForTheirLinesLessTheWork) {
  Latencies wide = latencies;
  wide.llc_line = 5, wide.memory_line = 15;
  HierarchyCounts caches;
  caches.l2 = {.loads = 30, .load_misses = 30};
  caches.llc = {.loads = 30, .load_misses = 10};
  caches.misses = {.stream_llc = 19, .stream_memory = 8};
  EXPECT_EQ(miss_cycles(wide, out_of_order, all, caches, {}).sum(), 19U * 4 + 5 + 8 * 14 + 2 * 45);
  caches.misses.busy_llc = 9, caches.misses.busy_memory = 3;
  EXPECT_EQ(miss_cycles(wide, out_of_order, all, caches, {}).sum(), 10U * 4 + 5 + 5 * 14 + 3 * 10 + 2 * 45);
}

TEST(MissCycles, TheNextLineOfCodeIsFetchedAhead) {
  HierarchyCounts caches;
  caches.l2 = {.fetches = 30, .fetch_misses = 30};
  caches.llc = {.fetches = 30, .fetch_misses = 10};
  caches.misses = {.next_llc = 15, .next_memory = 8};
  EXPECT_EQ(miss_cycles(latencies, out_of_order, all, caches, {}).of(Cause::front_end),
            15U * 6 + 5 * 31 + 8 * 39 + 2 * 195);
  EXPECT_EQ(miss_cycles(latencies, in_order, all, caches, {}).sum(), 20U * 31 + 10 * 195);
}

TEST(MissCycles, RepeatedStringInstructionsTakeACycleForEachStep) {
  HierarchyCounts caches;
  caches.string_steps = 32;
  EXPECT_EQ(miss_cycles(latencies, in_order, all, caches, {}).of(Cause::heavy), 32U);
}

TEST(MissCycles, EachHasACause) {
  HierarchyCounts caches;
  caches.l2 = {.fetches = 5, .fetch_misses = 1, .loads = 100, .load_misses = 30};
  caches.llc = {.fetches = 1, .loads = 30, .load_misses = 10};
  caches.misses = {.stlb_data = 6, .stlb_fetches = 2, .walk_data = 4, .walk_fetches = 1};
  BranchCounts branches;
  branches.indirect_misses = 2;
  const CycleTimes cycles = miss_cycles(latencies, in_order, all, caches, branches);
  EXPECT_EQ(cycles.of(Cause::l2), 70U * 7);
  EXPECT_EQ(cycles.of(Cause::l3), 20U * 31);
  EXPECT_EQ(cycles.of(Cause::dram), 10U * 195);
  EXPECT_EQ(cycles.of(Cause::tlb), 6U * 7 + 4 * 30);
  EXPECT_EQ(cycles.of(Cause::front_end), 4U * 7 + 31 + 2 * 7 + 30) << "with translations of code";
  EXPECT_EQ(cycles.of(Cause::mispredicts), 2U * 15);
}

}  // namespace
}  // namespace tally::models
