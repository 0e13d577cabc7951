// Passes over many regions: each region is written once, or read once with cold caches.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/memory/analysis/points.hpp"
#include "programs/memory/kernels/flavours.hpp"
#include "programs/memory/runner.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// What a pass writes and reads.
struct Pass {
  std::uint64_t region_bytes = 64;  ///< bytes touched: blocks × block
  std::uint64_t block_bytes = 64;
  std::uint64_t stride_bytes = 64;      ///< from block to block; at least the block
  std::uint64_t working_set_bytes = 0;  ///< of all regions; 0: regions_of() chooses
  const Store* store = nullptr;
  const Load* load = nullptr;
  const Fence* fence = nullptr;

  std::uint64_t blocks() const { return region_bytes / block_bytes; }
  /// The distance from one region to the next.
  std::uint64_t pitch_bytes() const { return blocks() * stride_bytes; }
};

/// The number of regions to visit: as many as fill the working set; without one, about 30 ms of reads, but at most 256
/// MiB. At least one region.
std::uint64_t regions_of(const Pass& pass);

/// ns per 64-byte line, for the passes over one fresh mapping.
struct PassSample {
  MappingSample write;  ///< all regions in turn
  MappingSample read;   ///< then all regions in the same order, with the caches emptied before
  MappingSample raw;    ///< each region is read right after it is written
  double loop_ns = 0;   ///< minimum time of the write loop without its stores and fences
  std::uint64_t regions = 0;
  std::string pages_got;
};

/// The passes to run in addition to the writes.
struct PassSelection {
  bool read = false;
  bool raw = false;
};

/// Runs the passes over one mapping. Regions are visited in random order, the same in each pass. Errors: bad_usage if a
/// region holds no block; cannot_measure without memory, or if the memory does not hold what was written.
Result<PassSample> run_passes(Runner& runner, const Pass& pass, const PassSelection& wanted);

/// A result row: `quantity` of this pass over these mappings.
result::MemoryPoint pass_row(const Runner& runner, const Pass& pass, std::string task, std::string quantity,
                             const std::vector<MappingSample>& mappings, const PassSample& any);

}  // namespace tally::memory
