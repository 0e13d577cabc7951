// Passes over many regions: every region is written once, or read once, cold.
#pragma once

#include <cstdint>
#include <vector>

#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/analysis/points.hpp"
#include "tally/tools/memory/kernels/flavours.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// What is written and read.
struct Pass {
  std::uint64_t region_bytes = 64;  ///< touched: blocks × block
  std::uint64_t block_bytes = 64;
  std::uint64_t stride_bytes = 64;  ///< from block to block, at least the block
  const Store* store = nullptr;
  const Load* load = nullptr;
  const Fence* fence = nullptr;

  std::uint64_t blocks() const { return region_bytes / block_bytes; }
  /// From one region to the next.
  std::uint64_t pitch_bytes() const { return blocks() * stride_bytes; }
};

/// How many regions are visited: at least 1, about 30 ms of reads, at most 256 MiB or one region.
std::uint64_t regions_of(const Pass& pass);

/// ns per 64-byte line of the passes over one fresh mapping.
struct PassSample {
  MappingSample write;  ///< all regions, one after the other
  MappingSample read;   ///< then all of them in the same order, the caches emptied in between
  MappingSample raw;    ///< each region written and read at once
  double loop_ns = 0;   ///< of the loop that writes, without its stores and fences: as little as it took
  std::uint64_t regions = 0;
  std::string pages_got;
};

/// Which passes are wanted.
struct Wanted {
  bool read = false;
  bool raw = false;
};

/// One mapping. Regions are visited in random order, the same in each pass. Errors: bad_usage for a region that holds
/// no block; cannot_measure for lack of memory, and where what was written is not there afterwards.
Result<PassSample> run_passes(Runner& runner, const Pass& pass, const Wanted& wanted);

/// A row of the result: `quantity` of this pass over these mappings.
result::MemoryPoint pass_row(const Runner& runner, const Pass& pass, std::string task, std::string quantity,
                             const std::vector<MappingSample>& mappings, const PassSample& any);

}  // namespace tally::memory
