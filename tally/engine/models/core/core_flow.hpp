// Computes cycles from counts of blocks and edges: the state in which a block is entered, and its cost in that state.
#pragma once

#include <cstdint>
#include <span>

#include "tally/engine/models/core/core_model.hpp"
#include "tally/engine/models/core/schedules.hpp"

namespace tally::models {

/// A code region with one entry, at its top.
struct CoreBlock {
  std::span<const CoreInstruction> instructions = {};  ///< empty: the CoreSource has them
  std::uint64_t executions = 0;
  std::uint64_t begin = 0, end = 0;  ///< its addresses: a block that does not begin at the end of another is jumped to
  std::uint64_t code = 0;            ///< a hash of its bytes and of their address, as far as the schedule depends on it
  std::uint32_t length = 0;          ///< the number of instructions, if `instructions` is empty
  Operation last = Operation::unknown;  ///< its last instruction, if that is a call or a return
};

/// Code that is decoded only if it has to be scheduled, and schedules of earlier runs.
class CoreSource {
 public:
  /// Decodes a block. `can_be_kept`: false if its schedule depends on more than CoreBlock::code.
  virtual std::span<const CoreInstruction> read(std::uint32_t block, bool& can_be_kept) = 0;
  /// Null: no schedules are kept.
  virtual ScheduleStore* schedules() = 0;

 protected:
  ~CoreSource() = default;
};

/// How often one block followed another.
struct CoreEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t count = 0;
};

/// Executions that a misprediction restarted: the branch that ends one block led to another, but not as predicted.
struct CoreRestart {
  static constexpr std::uint32_t anywhere = ~std::uint32_t{0};  ///< `from` of targets of indirect branches

  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t count = 0;
  std::uint64_t ticks = 0;  ///< set by total()
};

/// After a restart, at most this many blocks are run with nothing in work.
constexpr unsigned blocks_after_restart = 32;

/// All restarts, sorted by `from`, the cycles that their branches wait for loads (cycles_before_restarts()), and the
/// beginning of the block after the indirect call that was mispredicted most: there return functions that were entered
/// from anywhere.
struct CoreRestarts {
  std::span<CoreRestart> list = {};
  std::uint64_t waits = 0;
  std::uint64_t after_call = 0;
};

/// What total() knows of a block.
struct CoreMark {
  static constexpr std::uint32_t all_overlaps = 1U << 16;

  std::uint32_t first_edge = 0;  ///< of those into it
  std::uint32_t usual = 0;       ///< 1 + its most frequent predecessor; 0: none
  std::uint32_t follower = 0;    ///< 1 + the edge to its most frequent successor; 0: none
  std::uint32_t next = 0;        ///< 1 + the block that waits for its end state; 0: none
  std::uint32_t state = 0;       ///< 1 + the index of its end state in CoreMemory::ends; 0: not computed
  std::uint32_t overlapped = 0;  ///< the part of its waits in which other code runs, of all_overlaps
  StateName end = 0;             ///< the name of that state; 0: none
  bool is_settled = false;       ///< what it costs is known, and its end state or the name of that
  bool is_in_loop = false;       ///< its usual predecessors lead back to it
  bool can_be_kept = true;       ///< as CoreSource::read() returned
  bool is_divided = false;       ///< CoreParts has its cycles
};

/// What a block costs. Apart from CoreMark, which is read at random.
struct CoreSpent {
  CoreTimes cycles = {};      ///< in the end its part of CoreTotal::cycles, the sum of all blocks
  std::uint32_t aliases = 0;  ///< of one execution: CoreCost::aliases
  std::uint32_t unknown = 0;  ///< of one execution: CoreCost::unknown
};

/// Memory for total(): one element for each block, default-initialized. Of `ends`, only as many are written as states
/// are computed.
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
/// loops one for each round, mostly three. A schedule that `source` has costs a search of it. The result is the same
/// with and without it.
///
/// After a restart nothing runs ahead: the next blocks begin with all results ready and
/// nothing in work. What they then take longer than usual, beyond the load and comparison that CoreTable::mispredict
/// includes, is added to the block at which execution restarts.
CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                const CoreMemory& memory, CoreSource* source = nullptr, const CoreRestarts& restarts = {});

/// What the instructions of each block add to its cycles.
class CoreParts {
 public:
  /// Returns memory for them: an element for each instruction of a block.
  virtual std::span<CoreTimes> memory(std::uint32_t block) = 0;
  /// Takes what was written there.
  virtual void take(std::uint32_t block) = 0;

 protected:
  ~CoreParts() = default;
};

/// After total(), with the same arguments: divides the cycles of each block among its instructions, as they spend them
/// when the block is entered from its most frequent predecessor. Cost: a run of each block with cycles, and one more if
/// total() has computed its end state, or if it is in a loop of such predecessors.
void divide(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
            const CoreMemory& memory, CoreSource* source, CoreParts& parts);

}  // namespace tally::models
