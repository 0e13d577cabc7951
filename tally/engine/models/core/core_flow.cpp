#include "tally/engine/models/core/core_flow.hpp"

#include <bit>

namespace tally::models {

namespace {

// Enough for dependency chains through loops of several blocks, and for a mean over cycles of 2, 3, 4 and 6 rounds.
constexpr int rounds_to_settle = 20;
constexpr int rounds_that_count = 12;
// Blocks that are executed less run in fewer rounds: those that together execute one of `parts` instructions of the
// program. Most blocks of most programs are in the first row.
struct Effort {
  std::uint64_t parts;
  int to_settle, that_count;  // the second divides rounds_that_count
};
constexpr Effort efforts[] = {{25, 2, 1}, {8, 8, 6}, {1, rounds_to_settle, rounds_that_count}};

// Sources and ports that were ready as long ago as the window: code elsewhere has run before. Its fetching was no
// faster than this code.
CoreState running_state(const CoreTable& core) {
  CoreState state;
  for (std::int16_t& time : state.ready) time = static_cast<std::int16_t>(-core.lead() * ticks_per_cycle);
  for (unsigned port = 0; port < ports; ++port)
    state.free[port] = static_cast<std::int16_t>(-core.lead() * ticks_per_cycle);
  return state;
}

// Returns the most frequent edge; null if there is none.
const CoreEdge* usual_of(std::span<const CoreEdge> entries) {
  const CoreEdge* usual = nullptr;
  for (const CoreEdge& edge : entries)
    if (edge.count > 0 && (usual == nullptr || edge.count > usual->count)) usual = &edge;
  return usual;
}

// Rounds over all blocks. A block whose entry states did not change is not run again. The first round settles.
class Flow {
 public:
  Flow(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
       const CoreMemory& memory)
      : core_(core),
        blocks_(blocks),
        edges_(edges),
        ends_(memory.ends),
        marks_(memory.marks),
        spent_(memory.spent),
        elsewhere_(running_state(core)) {
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < marks_.size(); ++i) {
      marks_[i].first_edge = next;
      while (next < edges_.size() && edges_[next].to == i) ++next;
    }
  }

  // Updates the end state of a block. It follows from the most frequent predecessor alone.
  void settle(std::uint32_t number, const CoreBlock& block) {
    CoreMark& mark = marks_[number];
    if (mark.run_at != 0 && (mark.usual == 0 || marks_[mark.usual - 1].changed_at <= mark.run_at)) return;
    const CoreEdge* const usual = usual_of(entries_of(number));
    mark.usual = usual != nullptr ? usual->from + 1 : 0;
    mark.jumped = usual == nullptr || jumps(*usual);
    run_usual(number, block);
  }

  // Returns the ticks of all executions of a block, with the states of this round.
  const CoreTimes& count(std::uint32_t number, const CoreBlock& block) {
    CoreMark& mark = marks_[number];
    CoreTimes& ticks = spent_[number].ticks;
    const std::span<const CoreEdge> entries = entries_of(number);
    if (is_counted(mark, entries)) return ticks;
    const CoreEdge* const usual_edge = usual_of(entries);
    std::uint64_t left = block.executions;
    ticks = {};
    for (const CoreEdge& edge : entries) {
      const std::uint64_t times = edge.count < left ? edge.count : left;
      if (&edge == usual_edge || times == 0) continue;
      CoreState state = ends_[edge.from];
      if (jumps(edge)) state.fetched = 0;
      ticks.add(run(core_, block.instructions, state).causes, times);
      left -= times;
    }
    ticks.add(run_usual(number, block), left);
    mark.counted_at = mark.run_at;
    return ticks;
  }

 private:
  std::span<const CoreEdge> entries_of(std::uint32_t number) const {
    const std::size_t end = number + 1 < marks_.size() ? marks_[number + 1].first_edge : edges_.size();
    return edges_.subspan(marks_[number].first_edge, end - marks_[number].first_edge);
  }

  bool is_counted(const CoreMark& mark, std::span<const CoreEdge> entries) const {
    if (mark.counted_at == 0) return false;
    for (const CoreEdge& edge : entries)
      if (marks_[edge.from].changed_at > mark.counted_at) return false;
    return true;
  }

  CoreTimes run_usual(std::uint32_t number, const CoreBlock& block) {
    CoreMark& mark = marks_[number];
    mark.run_at = ++now_;
    CoreState end = mark.usual != 0 ? ends_[mark.usual - 1] : elsewhere_;
    if (mark.jumped) end.fetched = 0;
    const CoreCost cost = run(core_, block.instructions, end);
    spent_[number].aliases = cost.aliases;
    if (end == ends_[number]) return cost.causes;
    ends_[number] = end;
    mark.changed_at = ++now_;  // after run_at, because the block may follow itself
    return cost.causes;
  }

  bool jumps(const CoreEdge& edge) const { return blocks_[edge.from].end != blocks_[edge.to].begin; }

  const CoreTable& core_;
  std::span<const CoreBlock> blocks_;
  std::span<const CoreEdge> edges_;
  std::span<CoreState> ends_;
  std::span<CoreMark> marks_;
  std::span<CoreSpent> spent_;
  const CoreState elsewhere_;
  std::uint32_t now_ = 0;
};

std::uint64_t instructions_of(const CoreBlock& block) { return block.executions * block.instructions.size(); }

// Returns the executions below which blocks together execute at most one of `parts` instructions: a power of two. Not a
// number of instructions, because a short block of a frequent loop passes on the state of the others.
class Efforts {
 public:
  Efforts(std::span<const CoreBlock> blocks, std::uint64_t instructions) {
    for (const CoreBlock& block : blocks) by_width_[std::bit_width(block.executions)] += instructions_of(block);
    std::uint64_t sum = 0;
    const Effort* effort = efforts;
    for (int width = 0; width <= 64; ++width) {
      sum += by_width_[width];
      while (sum > instructions / effort->parts) ++effort;
      of_width_[width] = effort;
    }
  }
  const Effort& of(const CoreBlock& block) const { return *of_width_[std::bit_width(block.executions)]; }

 private:
  std::uint64_t by_width_[65] = {};
  const Effort* of_width_[65] = {};
};

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
  Flow flow(core, blocks, edges, memory);
  const Efforts efforts(blocks, result.instructions);
  for (int round = 0; round < rounds_to_settle + rounds_that_count; ++round) {
    const int counted = round - rounds_to_settle;
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].executions == 0) continue;
      const Effort& effort = efforts.of(blocks[i]);
      if (round < effort.to_settle)
        flow.settle(i, blocks[i]);
      else if (counted >= 0 && counted < effort.that_count)
        memory.spent[i].cycles.add(flow.count(i, blocks[i]), rounds_that_count / effort.that_count);
    }
  }
  // Rounded during the summation, so that nothing is lost between blocks.
  std::uint64_t ticks = 0, cycles = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    for (std::uint64_t& cause : memory.spent[i].cycles.by) {
      ticks += cause;
      const std::uint64_t before = cycles;
      cycles = ticks / rounds_that_count / ticks_per_cycle;
      cause = cycles - before;
    }
    result.cycles.add(memory.spent[i].cycles);
    result.aliases += blocks[i].executions * memory.spent[i].aliases;
  }
  return result;
}

void divide(const CoreTable& core, const CoreBlock& block, std::uint32_t number, const CoreMemory& memory,
            std::span<CoreTimes> each) {
  const std::uint32_t usual = memory.marks[number].usual;
  CoreState state = usual != 0 ? memory.ends[usual - 1] : running_state(core);
  if (memory.marks[number].jumped) state.fetched = 0;
  const CoreTimes all = run(core, block.instructions, state, each).causes;
  for (unsigned cause = 0; cause < core_causes; ++cause) {
    const std::uint64_t cycles = memory.spent[number].cycles.by[cause];
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
