// Finds loops that a program enters again soon after it left them, and the code in between.
#pragma once

#include <cstdint>
#include <span>

#include "tally/engine/models/core/core_flow.hpp"
#include "tally/engine/models/core/loop_nest.hpp"

namespace tally::models {

/// Code that is run in this order: the blocks of the loop, from its most frequent entry, and those that lead back to
/// it.
struct RepeatedLoop {
  static constexpr unsigned limit = 16;  ///< blocks of each

  std::uint32_t loop[limit] = {}, outside[limit] = {};
  std::uint32_t loop_size = 0, outside_size = 0;
  std::uint32_t last = 0;     ///< the number of its blocks that the last trip runs
  std::uint64_t entries = 0;  ///< how often the program enters the loop
  std::uint64_t trips = 0;    ///< mean executions of the first block in each of them, rounded
};

/// Finds the loop whose first block by address this is, of usual predecessors. Returns false if the block is in none,
/// or if the most frequent code after the loop does not lead back to it. Cost: a search of the edges.
bool find_repeated(std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges, std::span<const CoreMark> marks,
                   std::uint32_t number, RepeatedLoop& loop);

/// Takes from the waits of a loop, and from its restarts, the time by which it overlaps with the code after it.
/// `spent`: by one execution of each block. `outside`: ticks of the code outside and of the loop's next beginning.
/// `trips`: those of `times`.
void take_overlap(const CoreTable& core, const RepeatedLoop& loop, std::uint64_t trips, const NestTimes& times,
                  std::uint64_t outside, std::span<CoreSpent> spent, std::span<CoreRestart> restarts);

}  // namespace tally::models
