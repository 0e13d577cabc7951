#include "tally/engine/models/core/cycles.hpp"

#include <gtest/gtest.h>

namespace tally::models {
namespace {

constexpr Latencies latencies{.l2 = 12, .llc = 36, .memory = 200, .stlb = 7, .walk = 30, .mispredict = 15};

TEST(MissCycles, EachLevelAddsItsLatencyBeyondL1) {
  HierarchyCounts caches;
  caches.l1d = {.loads = 1000, .load_misses = 100, .stores = 500, .store_misses = 50};
  caches.l2 = {.loads = 100, .load_misses = 30, .stores = 50, .store_misses = 50};
  caches.llc = {.loads = 30, .load_misses = 10, .stores = 50, .store_misses = 50};
  EXPECT_EQ(miss_cycles(latencies, 5, caches, {}, {}), 70U * 7 + 20 * 31 + 10 * 195);
}

TEST(MissCycles, FetchesStallToo) {
  HierarchyCounts caches;
  caches.l1i = {.fetches = 1000, .fetch_misses = 10};
  caches.l2 = {.fetches = 10, .fetch_misses = 0};
  EXPECT_EQ(miss_cycles(latencies, 5, caches, {}, {}), 10U * 7);
}

TEST(MissCycles, TheLastExistingLevelMissesIntoMemory) {
  HierarchyCounts caches;
  caches.l1d = {.loads = 1000, .load_misses = 100};
  EXPECT_EQ(miss_cycles(latencies, 5, caches, {}, {}), 100U * 195);
  caches.l2 = {.loads = 100, .load_misses = 30};
  EXPECT_EQ(miss_cycles(latencies, 5, caches, {}, {}), 70U * 7 + 30 * 195);
}

TEST(MissCycles, ALatencyOfZeroAddsNothing) {
  HierarchyCounts caches;
  caches.l1d = {.loads = 1000, .load_misses = 100};
  caches.l2 = {.loads = 100, .load_misses = 30};
  EXPECT_EQ(miss_cycles({}, 5, caches, {}, {}), 0U);
}

TEST(MissCycles, TranslationsAndPredictions) {
  TlbCounts tlbs;
  tlbs.stlb = {.loads = 10, .load_misses = 4, .stores = 5, .store_misses = 5};
  BranchCounts branches;
  branches.conditional_misses = 2;
  branches.return_misses = 1;
  branches.btb_misses = 100;
  EXPECT_EQ(miss_cycles(latencies, 5, {}, tlbs, branches), 6U * 7 + 4 * 30 + 3 * 15);
  EXPECT_EQ(miss_cycles(latencies, 5, {}, {}, {}), 0U);
}

}  // namespace
}  // namespace tally::models
