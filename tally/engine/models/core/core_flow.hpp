// From counts of blocks and edges to cycles: which state a block is entered in, and what it costs then.
#pragma once

#include <cstdint>
#include <span>

#include "tally/engine/models/core/core.hpp"

namespace tally::models {

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

/// What total() knows of a block while it adds up. Times count what happened; 0 is never.
struct CoreMark {
  std::uint64_t ticks = 0;       ///< of all its executions, as things stood last
  std::uint64_t cycles = 0;      ///< in the end its part of CoreTotal::cycles, of which those of all blocks are the sum
  std::uint32_t run_at = 0;      ///< when it was run last
  std::uint32_t changed_at = 0;  ///< when the state in which it ends became what it is
};

/// Memory for total(): one of each for every block, as they are made.
struct CoreMemory {
  std::span<CoreState> ends;
  std::span<CoreMark> marks;
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
/// `edges` are in the order of their `to`.
/// Cost: a few runs of every block that was executed, some 30 of those whose states do not settle.
CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                const CoreMemory& memory);

}  // namespace tally::models
