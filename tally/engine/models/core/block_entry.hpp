// How a block is entered after another one, and where blocks are.
#pragma once

#include <cstdint>
#include <span>

#include "tally/engine/models/core/core_flow.hpp"

namespace tally::models {

/// Names of states that are not computed: of running_state(), and of one that is zero.
constexpr StateName running = 2, untouched = 4;

/// Sources and ports that were ready as long ago as the window: code elsewhere has run before. Its fetching was no
/// faster than this code.
inline CoreState running_state(const CoreTable& core) {
  CoreState state;
  for (std::int16_t& time : state.ready) time = static_cast<std::int16_t>(-core.lead() * ticks_per_cycle);
  for (unsigned port = 0; port < ports; ++port)
    state.free[port] = static_cast<std::int16_t>(-core.lead() * ticks_per_cycle);
  return state;
}

/// Whether two states are the same, except for the places of stores of long ago, which pointers move in each round of a
/// loop.
inline bool are_same(const CoreTable& core, const CoreState& a, const CoreState& b) {
  CoreState moved = a;
  for (unsigned i = 0; i < recent_stores; ++i)
    if (a.stores[i].end == -core.window() * ticks_per_cycle) moved.stores[i].at = b.stores[i].at;
  return moved == b;
}

inline std::uint64_t length_of(const CoreBlock& block) {
  return block.instructions.empty() ? block.length : block.instructions.size();
}

inline bool jumps(const CoreBlock& from, const CoreBlock& to) { return from.end != to.begin; }

/// Changes the end state of a block to the entry state of the next one.
inline void enter(const CoreBlock& from, const CoreBlock& to, CoreState& state) {
  if (!jumps(from, to)) return;
  state.fetched = 0;
  if (distance(from.end, to.begin).is_far()) forget_fixed_stores(state);
}

/// Returns the key of the schedule of a block after the end state of another one; null: after code elsewhere.
inline std::uint64_t key_after(StateName end, const CoreBlock* from, const CoreBlock& to) {
  std::uint64_t key = mixed(end, from == nullptr || jumps(*from, to));
  if (from != nullptr && (end & 1) != 0) {
    const CodeDistance by = distance(from->end, to.begin);
    key = mixed(key, static_cast<std::uint64_t>(by.is_far() ? CodeDistance::limit : by.bytes));
  }
  key = mixed(key, to.code);
  return key != 0 ? key : 1;
}

/// Returns the first of `count` indexes that is not before what is searched. std::lower_bound() would need headers
/// that the engine lacks.
template <class IsBefore>
std::size_t first_not_before(std::size_t count, const IsBefore& is_before) {
  std::size_t first = 0;
  while (count > 0) {
    const std::size_t half = count / 2;
    const bool later = is_before(first + half);
    first += later ? half + 1 : 0;
    count = later ? count - half - 1 : half;
  }
  return first;
}

/// Returns how often the branch at the end of a block was mispredicted.
inline std::uint64_t mispredicted(std::uint32_t block, std::span<const CoreRestart> restarts) {
  std::size_t first = first_not_before(restarts.size(), [&](std::size_t i) { return restarts[i].from < block; });
  std::uint64_t sum = 0;
  for (; first < restarts.size() && restarts[first].from == block; ++first) sum += restarts[first].count;
  return sum;
}

/// Finds the block that begins at an address. They are in order of their addresses in programs, maybe not in tests.
inline bool find_block(std::span<const CoreBlock> blocks, std::uint64_t begin, std::uint32_t& block) {
  const std::size_t first = first_not_before(blocks.size(), [&](std::size_t i) { return blocks[i].begin < begin; });
  if (first == blocks.size() || blocks[first].begin != begin) return false;
  block = static_cast<std::uint32_t>(first);
  return true;
}

}  // namespace tally::models
