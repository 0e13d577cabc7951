#include "programs/memory/tasks/task_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "programs/memory/analysis/size_text.hpp"

namespace tally::memory {

Result<std::vector<RegionAndBlock>> regions_and_blocks(const Plan& plan, const Sizes& usual_regions,
                                                       const Sizes& usual_blocks) {
  const Sizes regions = or_else(plan.regions, usual_regions);
  const Sizes blocks = or_else(plan.blocks, usual_blocks);
  const std::uint64_t least_block = *std::min_element(blocks.begin(), blocks.end());
  const std::uint64_t least_region = *std::min_element(regions.begin(), regions.end());
  const std::uint64_t largest_block = *std::max_element(blocks.begin(), blocks.end());
  const std::uint64_t largest_region = *std::max_element(regions.begin(), regions.end());
  constexpr const char* hint = "choose --regions that are at least as large as --blocks";
  if (largest_block > largest_region) {
    return fail(Code::bad_usage, fmt::format("no region holds a block of {}", size_text(largest_block)), hint);
  }
  if (!plan.regions.empty() && least_region < least_block) {
    return fail(Code::bad_usage, fmt::format("a region of {} holds no block", size_text(least_region)), hint);
  }
  std::vector<RegionAndBlock> pairs;
  for (const std::uint64_t block : blocks) {
    for (const std::uint64_t region : regions) {
      if (region >= block) pairs.push_back({region / block * block, block});
    }
  }
  return pairs;
}

}  // namespace tally::memory
