// Loops that are entered again soon: the core works on the next round of the outer loop before the inner one ends.
#pragma once

#include <cstdint>
#include <span>

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

/// A block of a loop, or of the code from its end to its next beginning.
struct NestBlock {
  std::span<const CoreInstruction> code = {};
  bool is_jumped_to = false;
};

/// A loop, and the code that leads back to it.
struct LoopNest {
  std::span<const NestBlock> loop = {};
  std::span<const NestBlock> outside = {};  ///< empty: the loop does not end
  std::uint32_t trips = 0;                  ///< of the loop, each time that it is entered
  std::uint32_t last = 0;                   ///< the number of its blocks that the last trip runs
};

/// The times of a round, in ticks.
struct NestTimes {
  std::int64_t endless = 0;       ///< of these trips if the loop does not end
  std::int64_t predicted = 0;     ///< of the loop and of the code outside, if the end of the loop is predicted
  std::int64_t mispredicted = 0;  ///< if it is not
};

/// Runs rounds of a nest with a reorder buffer and schedulers, which decide how far the core is ahead. Cost: that of
/// about 12 rounds in the core model.
NestTimes times_of(const CoreTable& core, const LoopNest& nest);

}  // namespace tally::models
