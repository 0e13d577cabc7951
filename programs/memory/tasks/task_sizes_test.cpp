// Tests of the pairs of region and block that tasks measure.
#include "programs/memory/tasks/task_sizes.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tally::memory {
namespace {

std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs(Sizes regions, Sizes blocks) {
  Plan plan;
  plan.regions = std::move(regions);
  plan.blocks = std::move(blocks);
  const auto sizes = regions_and_blocks(plan, {64, 1024, 4096}, {64});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  if (sizes) {
    for (const auto& [region, block] : *sizes) all.emplace_back(region, block);
  }
  return all;
}

TEST(MemorySizes, are_every_region_with_every_block_that_fits) {
  EXPECT_EQ(pairs({4096, 8192}, {64, 8192}),
            (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{4096, 64}, {8192, 64}, {8192, 8192}}));
  EXPECT_EQ(pairs({6144}, {4096}), (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{4096, 4096}}));
  EXPECT_EQ(pairs({}, {}).size(), 3u);
}

TEST(MemorySizes, that_would_not_be_measured_are_refused) {
  EXPECT_TRUE(pairs({64, 8192}, {4096}).empty()) << "64 holds no block of 4096";
  EXPECT_TRUE(pairs({64}, {64, 4096}).empty()) << "no region holds 4096";
  EXPECT_EQ(pairs({}, {1024}).size(), 2u) << "the usual regions are those that hold the block";
}

}  // namespace
}  // namespace tally::memory
