// Access patterns whose misses follow from arithmetic, on the shipped machines: the stride table of the RDPMC article,
// and HPCTool's matrix multiplication.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tally/core/base/full_run_testing.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/engine/models/table_memory.hpp"

namespace tally::machines {
namespace {

using models::Access;

// The caches of one thread, with their memory.
struct Caches {
  explicit Caches(const models::HierarchyShape& shape)
      : own(models::private_words(shape)),
        shared(models::shared_words(shape)),
        view(shape, models::tables_in(shape, own.data(), shared.data())) {}
  std::vector<std::uint64_t> own, shared;
  models::Hierarchy view;
};

models::HierarchyShape haswell(bool prefetch) {
  models::HierarchyShape shape = named("haswell", "/")->caches;
  if (!prefetch) shape.prefetch = {};
  return shape;
}

// The article reads as often as it has strides, which makes as many accesses as the array has bytes. The third round is
// like all later ones.
std::uint64_t rounds_of(std::uint64_t stride) {
  return test::is_full_run() ? stride : std::min<std::uint64_t>(stride, 3);
}

// Accesses every stride-th byte of `bytes`, in rounds_of(stride).
models::HierarchyCounts walk(const models::HierarchyShape& shape, std::uint64_t bytes, std::uint64_t stride) {
  Caches caches(shape);
  for (std::uint64_t round = 0; round < rounds_of(stride); ++round)
    for (std::uint64_t i = 0; i < bytes; i += stride) caches.view.access(0x7f00'0000'0000 + i, 1, Access::load);
  return caches.view.counts();
}

constexpr std::uint64_t array = 12 << 20;  // larger than the last level's 10 MB, like the article's 1 GB

// In each round every level misses every line, because none of it is left from the round before.
TEST(StrideTable, WithoutPrefetcherEachLevelMissesEachLine) {
  for (const std::uint64_t stride : {1U, 16U, 64U, 1024U}) {
    const models::HierarchyCounts counts = walk(haswell(false), array, stride);
    const std::uint64_t loads = rounds_of(stride) * array / stride;
    const std::uint64_t expected = rounds_of(stride) * array / std::max<std::uint64_t>(stride, 64);
    EXPECT_EQ(counts.l1d, (models::LevelCounts{.loads = loads, .load_misses = expected})) << stride;
    EXPECT_EQ(counts.l2, (models::LevelCounts{.loads = expected, .load_misses = expected})) << stride;
    // With a stride of 1,024 these are 12,288 lines in every sixteenth set: 24 per set, for 20 ways.
    EXPECT_EQ(counts.llc, (models::LevelCounts{.loads = expected, .load_misses = expected})) << stride;
  }
}

TEST(StrideTable, WithPrefetcherShortStridesMissOncePerPage) {
  const std::uint64_t pages = array / 4096;
  for (const std::uint64_t stride : {1U, 64U})
    EXPECT_EQ(walk(haswell(true), array, stride).l1d.load_misses, pages * rounds_of(stride)) << stride;
  EXPECT_EQ(walk(haswell(true), array, 128).l1d.load_misses, rounds_of(128) * array / 128)
      << "the program does not use the next line next";
}

// Multiplies n × n integers, C = A·B, in the order of the assembly version, after both inputs were filled.
models::HierarchyCounts multiply(const models::HierarchyShape& shape, std::uint64_t n) {
  Caches caches(shape);
  const std::uint64_t bytes = n * n * 4;
  const std::uint64_t a = 0x60'0000, b = a + bytes, c = b + bytes;
  for (std::uint64_t i = 0; i < n * n; ++i) {
    caches.view.access(a + i * 4, 4, Access::store);
    caches.view.access(b + i * 4, 4, Access::store);
  }
  for (std::uint64_t row = 0; row < n; ++row) {
    for (std::uint64_t column = 0; column < n; ++column) {
      for (std::uint64_t k = 0; k < n; ++k) {
        caches.view.access(a + (row * n + k) * 4, 4, Access::load);
        caches.view.access(b + (k * n + column) * 4, 4, Access::load);
      }
      caches.view.access(c + (row * n + column) * 4, 4, Access::store);
    }
  }
  return caches.view.counts();
}

TEST(Matmul, TenByTenLoadsAndStoresAndMissesItsLinesOnce) {
  const models::HierarchyCounts counts = multiply(haswell(false), 10);
  EXPECT_EQ(counts.l1d.loads, 2000U);
  EXPECT_EQ(counts.l1d.stores, 300U);
  EXPECT_EQ(counts.l1d.load_misses, 0U) << "filling has loaded the inputs";
  EXPECT_EQ(counts.l1d.store_misses, (1200U + 63) / 64);  // 1,200 bytes that begin at a line boundary
}

// 256 × 256: a column of B has 256 lines, 1 KB apart, in four of the 64 sets, which hold 32 of them. So B misses at
// every step. A row of A has 16 lines; they stay cached during a column, except the one in those sets.
TEST(Matmul, AColumnThatFallsIntoFewSetsNeverHits) {
  const std::uint64_t n = 256;
  const models::HierarchyCounts counts = multiply(haswell(false), n);
  EXPECT_EQ(counts.l1d.loads, 2 * n * n * n);
  EXPECT_EQ(counts.l1d.stores, 3 * n * n);
  EXPECT_GE(counts.l1d.load_misses, n * n * n);
  EXPECT_LE(counts.l1d.load_misses, n * n * n + n * n * 4);
  EXPECT_EQ(counts.llc.misses(), 3 * n * n * 4 / 64) << "768 KB fit into the last level: each line once";
}

}  // namespace
}  // namespace tally::machines
