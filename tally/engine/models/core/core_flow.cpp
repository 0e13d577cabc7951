#include "tally/engine/models/core/core_flow.hpp"

namespace tally::models {

namespace {

// Enough for dependency chains through loops of several blocks.
constexpr unsigned most_rounds = 32;
// Ticks are summed in this unit, so that the mean over 2, 3, 4 or 6 rounds is exact.
constexpr unsigned parts_of_tick = 12;

// Sources and ports that were ready as long ago as the window: code elsewhere has run before. Its fetching was no
// faster than this code.
CoreState running_state(const CoreTable& core) {
  CoreState state;
  for (std::int16_t& time : state.ready) time = static_cast<std::int16_t>(-core.lead() * ticks_per_cycle);
  for (unsigned port = 0; port < ports; ++port)
    state.free[port] = static_cast<std::int16_t>(-core.lead() * ticks_per_cycle);
  return state;
}

// Whether two states are the same, except for the places of stores of long ago, which pointers move in each round of a
// loop.
bool are_same(const CoreTable& core, const CoreState& a, const CoreState& b) {
  CoreState moved = a;
  for (unsigned i = 0; i < recent_stores; ++i)
    if (a.stores[i].ready == -core.window() * ticks_per_cycle) moved.stores[i].at = b.stores[i].at;
  return moved == b;
}

// Returns the most frequent edge; null if there is none.
const CoreEdge* usual_of(std::span<const CoreEdge> entries) {
  const CoreEdge* usual = nullptr;
  for (const CoreEdge& edge : entries)
    if (edge.count > 0 && (usual == nullptr || edge.count > usual->count)) usual = &edge;
  return usual;
}

// The usual predecessors of a block lead back to a block without one, or around a loop. So each end state is computed
// once, after that of its predecessor; those of loops until they stay the same.
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
      CoreMark& mark = marks_[i];
      mark.first_edge = next;
      while (next < edges_.size() && edges_[next].to == i) ++next;
      const CoreEdge* const usual = usual_of(edges_.subspan(mark.first_edge, next - mark.first_edge));
      mark.usual = usual != nullptr ? usual->from + 1 : 0;
      mark.jumped = usual == nullptr || jumps(*usual);
    }
  }

  // Sets the end states of a block and of all before it, and what each costs as it is usually entered.
  void settle(std::uint32_t number) {
    if (marks_[number].is_settled) return;
    constexpr std::uint32_t last = ~std::uint32_t{0};
    std::uint32_t first = number;
    marks_[number].next = last;
    while (true) {
      const std::uint32_t usual = marks_[first].usual;
      if (usual == 0 || marks_[usual - 1].is_settled) break;
      if (marks_[usual - 1].next != 0) {
        first = settle_loop(first, usual - 1);
        break;
      }
      marks_[usual - 1].next = first + 1;
      first = usual - 1;
    }
    for (std::uint32_t i = first;; i = marks_[i].next - 1) {
      if (!marks_[i].is_settled) {
        spent_[i].cycles = run_usual(i);
        finish(i, 1);
      }
      if (marks_[i].next == last) break;
    }
  }

  // Sets what all executions of a block cost.
  void count(std::uint32_t number) {
    const CoreBlock& block = blocks_[number];
    const CoreMark& mark = marks_[number];
    const std::size_t end = number + 1 < marks_.size() ? marks_[number + 1].first_edge : edges_.size();
    std::uint64_t left = block.executions;
    CoreTimes ticks;
    for (const CoreEdge& edge : edges_.subspan(mark.first_edge, end - mark.first_edge)) {
      const std::uint64_t times = edge.count < left ? edge.count : left;
      if (edge.from + 1 == mark.usual || times == 0) continue;
      CoreState state = ends_[edge.from];
      if (jumps(edge)) state.fetched = 0;
      ticks.add(run(core_, block.instructions, state).causes, times * parts_of_tick);
      left -= times;
    }
    ticks.add(spent_[number].cycles, left);
    spent_[number].cycles = ticks;
  }

 private:
  // Settles the loop from `first` to `last`, whose usual successor is `first`. Returns `last`.
  std::uint32_t settle_loop(std::uint32_t first, std::uint32_t last) {
    const auto after = [&](std::uint32_t i) { return i == last ? first : marks_[i].next - 1; };
    // The result does not depend on the block that led to the loop.
    std::uint32_t begin = last;
    for (std::uint32_t i = first; i != last; i = after(i)) begin = i < begin ? i : begin;
    CoreState earlier;  // all ready now: a chain through the loop then needs no time to use up the lead of the front
    ends_[begin] = earlier;
    unsigned rounds = 0;  // since `earlier`
    for (unsigned round = 1; round <= most_rounds; ++round) {
      each_of(begin, after, [this](std::uint32_t i) { spent_[i].cycles.add(run_usual(i)); });
      ++rounds;
      if (are_same(core_, ends_[begin], earlier) || round == most_rounds) break;
      if ((round & (round - 1)) != 0) continue;
      earlier = ends_[begin];
      rounds = 0;
      each_of(begin, after, [this](std::uint32_t i) { spent_[i].cycles = {}; });
    }
    each_of(begin, after, [&](std::uint32_t i) { finish(i, rounds); });
    return last;
  }

  template <class After, class Each>
  static void each_of(std::uint32_t begin, const After& after, const Each& each) {
    std::uint32_t i = begin;
    do {
      i = after(i);
      each(i);
    } while (i != begin);
  }

  // The block has the sum of the ticks of `rounds`.
  void finish(std::uint32_t number, unsigned rounds) {
    for (std::uint64_t& ticks : spent_[number].cycles.by) ticks = ticks * parts_of_tick / rounds;
    marks_[number].is_settled = true;
  }

  CoreTimes run_usual(std::uint32_t number) {
    const CoreMark& mark = marks_[number];
    CoreState& end = ends_[number];
    end = mark.usual != 0 ? ends_[mark.usual - 1] : elsewhere_;
    if (mark.jumped) end.fetched = 0;
    const CoreCost cost = run(core_, blocks_[number].instructions, end);
    spent_[number].aliases = cost.aliases;
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
    result.instructions += block.executions * block.instructions.size();
    result.unknown += block.executions * unknown_in(core, block.instructions);
  }
  Flow flow(core, blocks, edges, memory);
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].executions != 0) flow.settle(i);
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].executions != 0) flow.count(i);
  // Rounded during the summation, so that nothing is lost between blocks.
  std::uint64_t ticks = 0, cycles = 0;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    for (std::uint64_t& cause : memory.spent[i].cycles.by) {
      ticks += cause;
      const std::uint64_t before = cycles;
      cycles = ticks / parts_of_tick / ticks_per_cycle;
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
