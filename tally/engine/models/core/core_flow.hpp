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

/// What total() knows of a block.
struct CoreMark {
  std::uint32_t first_edge = 0;  ///< of those into it
  std::uint32_t usual = 0;       ///< 1 + its most frequent predecessor; 0: none
  std::uint32_t next = 0;        ///< 1 + the block that waits for its end state; 0: none
  bool jumped = true;            ///< that predecessor jumps to it
  bool is_settled = false;       ///< its end state is known
};

/// What a block costs. Apart from CoreMark, which is read at random.
struct CoreSpent {
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
/// waited for across blocks and loops. A loop of such predecessors is repeated until its states stay the same; if they
/// do not, because it alternates, the mean of its later rounds counts. Executions without an edge (the first block,
/// targets of indirect jumps) cost as much as those by the most frequent edge; without any edge, as much as in a
/// running pipeline whose results are all ready.
///
/// `edges` are sorted by `to`. Cost: a run of every executed block, one for each other edge, and of the blocks of such
/// loops one for each round, mostly three.
CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                const CoreMemory& memory);

/// After total(): divides the cycles of a block among its instructions, as they spend them when the block is entered
/// from its most frequent predecessor. `each` has an element for each instruction.
void divide(const CoreTable& core, const CoreBlock& block, std::uint32_t number, const CoreMemory& memory,
            std::span<CoreTimes> each);

}  // namespace tally::models
