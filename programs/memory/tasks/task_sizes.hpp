// The regions and blocks that a task measures.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/memory/runner.hpp"
#include "tally/core/base/result.hpp"

namespace tally::memory {

using Sizes = std::vector<std::uint64_t>;

/// Larger regions get fewer mappings: planting and walking them takes as long as all others.
inline constexpr std::uint64_t costly_region = 64 * mebibyte;
inline constexpr int costly_mappings = 2;

/// The requested sizes, otherwise the task's own.
inline Sizes or_else(const Sizes& requested, const Sizes& usual) { return requested.empty() ? usual : requested; }

/// A region and the blocks that it consists of.
struct RegionAndBlock {
  std::uint64_t region_bytes = 0;
  std::uint64_t block_bytes = 0;
};

/// Every region with every block that fits into it, block by block. A region is a whole number of blocks: the rest of a
/// requested size is cut off. Errors: bad_usage if a requested size is in no pair, because it would not be measured.
Result<std::vector<RegionAndBlock>> regions_and_blocks(const Plan& plan, const Sizes& usual_regions,
                                                       const Sizes& usual_blocks);

}  // namespace tally::memory
