// Splits the time of fenced writes to small regions into fence, line and memory bandwidth.
#pragma once

#include <span>
#include <vector>

#include "programs/memory/analysis/cold.hpp"

namespace tally::memory {

/// ns per line of a region of R bytes: the larger of fence_ns·64/R + line_ns and floor_ns.
struct FenceFit {
  double fence_ns = 0;        ///< fence and drain, once per region
  double line_ns = 0;         ///< to issue one line
  double floor_ns = 0;        ///< 64 bytes at memory bandwidth; line_ns if this limit is not seen
  double crossing_bytes = 0;  ///< the size at which both are equal; 0 if the limit is not seen
  bool queue = false;         ///< the residuals have a step above 3σ: a queue holds a number of lines
};

/// Fits fence + line·lines, the ns of a whole region, to the sizes `small`; floor_ns is the median of `large`, which
/// may be empty.
FenceFit fit_fence(std::span<const SizeTime> small, std::span<const SizeTime> large);

}  // namespace tally::memory
