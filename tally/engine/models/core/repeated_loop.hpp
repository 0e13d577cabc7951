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
  std::uint32_t arms[limit] = {};  ///< other blocks that some rounds run in place of one of the loop
  std::uint32_t loop_size = 0, outside_size = 0, arm_count = 0;
  std::uint32_t last = 0;     ///< the number of its blocks that the last trip runs
  std::uint64_t entries = 0;  ///< how often the program enters the loop
  std::uint64_t trips = 0;    ///< mean executions of the first block in each of them, rounded
};

/// Finds the loop whose first block by address this is, of usual predecessors. Returns false if the block is in none,
/// or if the most frequent code after the loop does not lead back to it. Cost: a search of the edges.
bool find_repeated(std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges, std::span<const CoreMark> marks,
                   std::uint32_t number, RepeatedLoop& loop);

/// Returns what share of a loop's waits, as CoreMark::overlapped, overlaps with the code after it, and takes the rest
/// of that time from its restarts. `spent`: by one execution of each block. `outside`: ticks of the code outside and of
/// the loop's next beginning. `trips`: those of `times`.
std::uint32_t overlapped(const CoreTable& core, const RepeatedLoop& loop, std::uint64_t trips, const NestTimes& times,
                         std::uint64_t outside, std::span<const CoreSpent> spent, std::span<CoreRestart> restarts);

/// Takes that share from the waits among these times.
CoreTimes without_overlap(CoreTimes times, std::uint32_t share);

}  // namespace tally::models
