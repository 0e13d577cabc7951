#include "tally/sim/core_flow.hpp"

namespace tally::sim {

namespace {

// Enough for chains to run through loops of several blocks, and for a mean over turns of 2, 3, 4 and 6 rounds.
constexpr int rounds_to_settle = 20;
constexpr int rounds_that_count = 12;

// The edges into one block, and the one that is taken most often.
struct Entries {
  std::span<const CoreEdge> edges;
  const CoreEdge* usual = nullptr;
};

Entries entries_of(std::uint32_t block, std::span<const CoreEdge> edges, std::size_t& next) {
  const std::size_t first = next;
  while (next < edges.size() && edges[next].to == block) ++next;
  Entries entries{.edges = edges.subspan(first, next - first)};
  for (const CoreEdge& edge : entries.edges)
    if (edge.count > 0 && (entries.usual == nullptr || edge.count > entries.usual->count)) entries.usual = &edge;
  return entries;
}

// Ticks of all executions of a block, as things stand in this round; its usual end goes into `ends`.
std::uint64_t round_of(const CoreTable& core, const CoreBlock& block, const Entries& entries, std::span<CoreState> ends,
                       CoreState& end) {
  CoreState usual = entries.usual != nullptr ? ends[entries.usual->from] : CoreState{};
  const auto cost = static_cast<std::uint64_t>(run(core, block.instructions, usual).ticks);
  std::uint64_t left = block.executions;
  std::uint64_t ticks = 0;
  for (const CoreEdge& edge : entries.edges) {
    if (&edge == entries.usual) continue;
    const std::uint64_t times = edge.count < left ? edge.count : left;
    if (times == 0) continue;
    CoreState state = ends[edge.from];
    const auto other = static_cast<std::uint64_t>(run(core, block.instructions, state).ticks);
    ticks += static_cast<std::uint64_t>(other) * times;
    left -= times;
  }
  end = usual;
  return ticks + static_cast<std::uint64_t>(cost) * left;
}

std::uint64_t unknown_in(const CoreTable& core, std::span<const CoreInstruction> instructions) {
  std::uint64_t count = 0;
  for (const CoreInstruction& instruction : instructions) count += core.timing(instruction.operation) == nullptr;
  return count;
}

}  // namespace

CoreTotal total(const CoreTable& core, std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges,
                std::span<CoreState> ends) {
  CoreTotal result;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ends[i] = CoreState{};
    result.instructions += blocks[i].executions * blocks[i].instructions.size();
    result.unknown += blocks[i].executions * unknown_in(core, blocks[i].instructions);
  }
  std::uint64_t ticks = 0;
  for (int round = 0; round < rounds_to_settle + rounds_that_count; ++round) {
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      const Entries entries = entries_of(i, edges, next);
      if (blocks[i].executions == 0) continue;
      CoreState end;
      const std::uint64_t taken = round_of(core, blocks[i], entries, ends, end);
      ends[i] = end;
      if (round >= rounds_to_settle) ticks += taken;
    }
  }
  result.cycles = static_cast<std::uint64_t>(ticks / rounds_that_count / ticks_per_cycle);
  return result;
}

}  // namespace tally::sim
