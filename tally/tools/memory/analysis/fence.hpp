// Writes of small regions, each closed by a fence: what is the fence, what the writes, what the memory after them.
#pragma once

#include <span>
#include <vector>

#include "tally/tools/memory/analysis/cold.hpp"

namespace tally::memory {

/// ns per line of a region = max(fence·64/R + line, floor).
struct FenceFit {
  double fence_ns = 0;        ///< fence and drain, once per region
  double line_ns = 0;         ///< issue of a line
  double floor_ns = 0;        ///< 64 bytes at the bandwidth of the memory; line_ns where no floor is seen
  double crossing_bytes = 0;  ///< where the floor is met; 0 where none is
  bool queue = false;         ///< a step in what is left, beyond 3σ of it: something holds a number of lines
};

/// Fits ns of a whole region, fence + line·lines, to the sizes `small`, and takes the floor as the median of `large`
/// (may be empty).
FenceFit fit_fence(std::span<const SizeTime> small, std::span<const SizeTime> large);

}  // namespace tally::memory
