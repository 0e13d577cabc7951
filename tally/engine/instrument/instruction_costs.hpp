/// What one execution of an instruction costs in modelled cycles, and of the segments of a trace.
#pragma once
#include "tally/engine/instrument/core_steps.hpp"

namespace tally::engine::instrument {

/// The cost of one execution of an instruction, as of the last core_costs(): an even share of its block's.
struct InstructionCost {
  u64 pc;
  s64 cost;
};
inline constexpr u32 kept_cost_limit = 1 << 16;
/// By address, the last one for each index; null if the process does not sample cycles.
inline InstructionCost* kept_costs;

inline InstructionCost& kept_cost(u64 pc) { return kept_costs[(pc ^ pc >> 16) % kept_cost_limit]; }

/// Returns the cost of one execution of a segment from `cost_of(pc)`. If a trace counts its whole path at its entry, an
/// exit subtracts the cost of what it does not reach.
template <class CostOf>
s64 segment_cost(const Trace& t, u32 number, CostOf&& cost_of) {
  const bool early = number != 0 && t.segments[number].counted < t.segments[0].counted;
  s64 cost = 0;
  u32 segment = 0;
  for (u32 i = 0; i < t.place_count; i++) {
    const InstructionMapping& p = t.places[i];
    if (counts_exits(t) && p.segment != 0) break;
    const s64 times = counts_exits(t) ? (number == 0 || early) - (number != 0 && number <= segment) : segment == number;
    if (times != 0 && p.kind != Kind::end) cost += times * cost_of(t.pc + static_cast<u64>(static_cast<s64>(p.pc)));
    if (is_branch(p.kind)) segment++;
  }
  return cost;
}

}  // namespace tally::engine::instrument
