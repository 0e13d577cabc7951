// From counts of blocks and edges to cycles: which state a block is entered in, and what it costs then.
#pragma once

#include <cstdint>
#include <span>

#include "tally/sim/core.hpp"

namespace tally::sim {

/// A stretch of code that is entered at its top only.
struct CoreBlock {
  std::span<const CoreInstruction> instructions;
  std::uint64_t executions = 0;
};

/// How often one block followed another.
struct CoreEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t count = 0;
};

/// What a whole program took, and how much of it the table knew.
struct CoreTotal {
  std::uint64_t cycles = 0;  ///< rounded down
  std::uint64_t instructions = 0;
  std::uint64_t unknown = 0;  ///< executed instructions of which the core's table has no timing
  bool operator==(const CoreTotal&) const = default;
};

/// Adds the blocks up. Each is run from the state in which the block that came before it most often ends, so that what
/// is still on its way is waited for across blocks and around loops; some rounds let the states settle, and the mean of
/// the later ones counts, for a loop may take turns. Executions that no edge explains (the first block, returns that
/// are not told apart) cost what those by the most frequent edge do, and without any edge what they do from the
/// beginning.
///
/// `edges` are in the order of their `to`. `ends` is memory for as many states as there are blocks.
/// Cost: some 30 runs of every block that was executed.
CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                std::span<CoreState> ends);

}  // namespace tally::sim
