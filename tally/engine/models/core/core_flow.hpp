// Computes cycles from counts of blocks and edges: the state in which a block is entered, and its cost in that state.
#pragma once

#include <cstdint>
#include <span>

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

/// A code region with one entry, at its top.
struct CoreBlock {
  std::span<const CoreInstruction> instructions;
  std::uint64_t executions = 0;
  std::uint64_t begin = 0, end = 0;  ///< its addresses: a block that does not begin at the end of another is jumped to
};

/// How often one block followed another.
struct CoreEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t count = 0;
};

/// The state of a block in total(). Times are numbers of events; 0 is never.
struct CoreMark {
  std::uint32_t run_at = 0;      ///< when it last ran, entered from its most frequent predecessor
  std::uint32_t counted_at = 0;  ///< when it last ran from each of its predecessors
  std::uint32_t changed_at = 0;  ///< when its end state last changed
  std::uint32_t first_edge = 0;  ///< of those into it
  std::uint32_t usual = 0;       ///< 1 + its most frequent predecessor; 0: none
  bool jumped = true;            ///< that one jumps to it
};

/// What a block costs. Apart from CoreMark, which is read at random.
struct CoreSpent {
  CoreTimes ticks = {};       ///< of all its executions, in the latest round
  CoreTimes cycles = {};      ///< in the end its part of CoreTotal::cycles, the sum of all blocks
  std::uint32_t aliases = 0;  ///< of one execution: CoreCost::aliases
};

/// Memory for total(): one element for each block, default-initialized.
struct CoreMemory {
  std::span<CoreState> ends;
  std::span<CoreMark> marks;
  std::span<CoreSpent> spent;
};

/// The result for a whole program, and the part without timings.
struct CoreTotal {
  CoreTimes cycles = {};  ///< their sum is rounded down
  std::uint64_t instructions = 0;
  std::uint64_t unknown = 0;  ///< executed instructions without a timing in the core's table
  std::uint64_t aliases = 0;  ///< executed loads that a store 4 KiB away may delay
  bool operator==(const CoreTotal&) const = default;
};

/// Sums the blocks. Each is run from the end state of its most frequent predecessor, so that results in flight are
/// waited for across blocks and loops. The first rounds let the states settle; the mean of the later ones counts,
/// because a loop may alternate. Executions without an edge (the first block, targets of indirect jumps) cost as much
/// as those by the most frequent edge; without any edge, as much as in a running pipeline whose results are all ready.
///
/// `edges` are sorted by `to`. Cost: three runs of every executed block and one for each edge; of the most frequent
/// ones, with seven of eight instructions, up to 32, and 12 for each edge, as long as their states do not settle.
CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                const CoreMemory& memory);

/// After total(): divides the cycles of a block among its instructions, as they spend them when the block is entered
/// from its most frequent predecessor. `each` has an element for each instruction.
void divide(const CoreTable& core, const CoreBlock& block, std::uint32_t number, const CoreMemory& memory,
            std::span<CoreTimes> each);

}  // namespace tally::models
