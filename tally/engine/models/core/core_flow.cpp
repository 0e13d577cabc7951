#include "tally/engine/models/core/core_flow.hpp"

#include <bit>

namespace tally::models {

namespace {

// Enough for dependency chains through loops of several blocks, and for a mean over cycles of 2, 3, 4 and 6 rounds.
constexpr int rounds_to_settle = 20;
constexpr int rounds_that_count = 12;
// Rare blocks, which together execute at most this part of the instructions, run in the first two rounds and in the
// first that counts. Most blocks of most programs are rare.
constexpr std::uint64_t rare_part = 100;
constexpr bool runs_rare_blocks(int round) { return round < 2 || round == rounds_to_settle; }

// The edges into one block, and the most frequent one.
struct Entries {
  std::span<const CoreEdge> edges;
  const CoreEdge* usual = nullptr;
};

// Sources and units that were ready as long ago as the window: code elsewhere has run before.
CoreState running_state(const CoreTable& core) {
  CoreState state;
  for (std::int16_t& time : state.ready) time = static_cast<std::int16_t>(-core.window() * ticks_per_cycle);
  for (std::int16_t& time : state.free) time = static_cast<std::int16_t>(-core.window() * ticks_per_cycle);
  return state;
}

Entries entries_of(std::uint32_t block, std::span<const CoreEdge> edges, std::size_t& next) {
  const std::size_t first = next;
  while (next < edges.size() && edges[next].to == block) ++next;
  Entries entries{.edges = edges.subspan(first, next - first)};
  for (const CoreEdge& edge : entries.edges)
    if (edge.count > 0 && (entries.usual == nullptr || edge.count > entries.usual->count)) entries.usual = &edge;
  return entries;
}

// Rounds over all blocks. A block whose entry states did not change is not run again.
class Flow {
 public:
  Flow(const CoreTable& core, const CoreMemory& memory)
      : core_(core), ends_(memory.ends), marks_(memory.marks), elsewhere_(running_state(core)) {}

  // Returns the ticks of all executions of a block, with the states of this round.
  const CoreTimes& ticks_of(std::uint32_t number, const CoreBlock& block, const Entries& entries) {
    CoreMark& mark = marks_[number];
    if (!is_settled(mark, entries)) run_again(mark, ends_[number], block, entries);
    return mark.ticks;
  }

 private:
  bool is_settled(const CoreMark& mark, const Entries& entries) const {
    if (mark.run_at == 0) return false;
    for (const CoreEdge& edge : entries.edges)
      if (marks_[edge.from].changed_at > mark.run_at) return false;
    return true;
  }

  void run_again(CoreMark& mark, CoreState& ends, const CoreBlock& block, const Entries& entries) {
    mark.run_at = ++now_;
    mark.usual = entries.usual != nullptr ? entries.usual->from + 1 : 0;
    CoreState end = mark.usual != 0 ? ends_[mark.usual - 1] : elsewhere_;
    const CoreTimes usual = run(core_, block.instructions, end).causes;
    std::uint64_t left = block.executions;
    mark.ticks = {};
    for (const CoreEdge& edge : entries.edges) {
      if (&edge == entries.usual) continue;
      const std::uint64_t times = edge.count < left ? edge.count : left;
      if (times == 0) continue;
      CoreState state = ends_[edge.from];
      mark.ticks.add(run(core_, block.instructions, state).causes, times);
      left -= times;
    }
    mark.ticks.add(usual, left);
    if (end == ends) return;
    ends = end;
    mark.changed_at = ++now_;  // after run_at, because the block may follow itself
  }

  const CoreTable& core_;
  std::span<CoreState> ends_;
  std::span<CoreMark> marks_;
  const CoreState elsewhere_;
  std::uint32_t now_ = 0;
};

std::uint64_t instructions_of(const CoreBlock& block) { return block.executions * block.instructions.size(); }

// Returns the executions from which on a block is not rare: a power of two. Not a number of instructions, because a
// short block of a frequent loop passes on the state of the others.
std::uint64_t rare_below(std::span<const CoreBlock> blocks, std::uint64_t instructions) {
  std::uint64_t by_width[65] = {};
  for (const CoreBlock& block : blocks) by_width[std::bit_width(block.executions)] += instructions_of(block);
  std::uint64_t sum = 0;
  int width = 0;
  while (width < 64 && sum + by_width[width] <= instructions / rare_part) sum += by_width[width++];
  return width == 0 ? 0 : std::uint64_t{1} << (width - 1);
}

std::uint64_t unknown_in(const CoreTable& core, std::span<const CoreInstruction> instructions) {
  std::uint64_t count = 0;
  for (const CoreInstruction& instruction : instructions) count += core.timing(instruction.operation) == nullptr;
  return count;
}

}  // namespace

CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                const CoreMemory& memory) {
  CoreTotal result;
  for (const CoreBlock& block : blocks) {
    result.instructions += instructions_of(block);
    result.unknown += block.executions * unknown_in(core, block.instructions);
  }
  Flow flow(core, memory);
  const std::uint64_t rare = rare_below(blocks, result.instructions);
  std::uint64_t ticks = 0;
  for (int round = 0; round < rounds_to_settle + rounds_that_count; ++round) {
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      const Entries entries = entries_of(i, edges, next);
      if (blocks[i].executions == 0) continue;
      const bool keeps = !runs_rare_blocks(round) && blocks[i].executions < rare;
      const CoreTimes& taken = keeps ? memory.marks[i].ticks : flow.ticks_of(i, blocks[i], entries);
      if (round >= rounds_to_settle) memory.marks[i].cycles.add(taken);
    }
  }
  // Rounded during the summation, so that nothing is lost between blocks.
  std::uint64_t cycles = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    for (std::uint64_t& cause : memory.marks[i].cycles.by) {
      ticks += cause;
      const std::uint64_t before = cycles;
      cycles = ticks / rounds_that_count / ticks_per_cycle;
      cause = cycles - before;
    }
    result.cycles.add(memory.marks[i].cycles);
  }
  return result;
}

void divide(const CoreTable& core, const CoreBlock& block, std::uint32_t number, const CoreMemory& memory,
            std::span<CoreTimes> each) {
  const CoreMark& mark = memory.marks[number];
  CoreState state = mark.usual != 0 ? memory.ends[mark.usual - 1] : running_state(core);
  const CoreTimes all = run(core, block.instructions, state, each).causes;
  for (unsigned cause = 0; cause < core_causes; ++cause) {
    const std::uint64_t cycles = mark.cycles.by[cause];
    // A cause that only rare predecessors have is divided evenly.
    const std::uint64_t weights = all.by[cause] != 0 ? all.by[cause] : each.size();
    std::uint64_t weight = 0, divided = 0;
    for (CoreTimes& times : each) {
      weight += all.by[cause] != 0 ? times.by[cause] : 1;
      const std::uint64_t so_far = cycles / weights * weight + cycles % weights * weight / weights;
      times.by[cause] = so_far - divided;
      divided = so_far;
    }
  }
}

}  // namespace tally::models
