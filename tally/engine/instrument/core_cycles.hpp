/// Cycles by the core model: counted up when a process ends, out of what its counters say of each segment.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Reserves what it needs, where cycles are asked for. Called once, when the settings are known.
void core_init();

/// The first `n` counters of a thread are about to be zeroed.
void core_collect(Thread* t, u32 n);

/// What was collected becomes cycles, in the page of `t`. The segments are still what they were. Takes cache_lock, or
/// has it taken. Half a microsecond for each different instruction that ran.
void core_finish(Thread* t);
void core_finish_locked(Thread* t);

/// In the child of a fork: what was collected is the parent's.
void core_forget();

/// What one execution of a segment costs, as far as the core model has seen it.
struct SegmentCost {
  s64 cost;  ///< cycles, with cost_bits behind the point
  u64 seen;  ///< executions that it is the average of; 0: it is not known

  u64 seen_now() const { return __atomic_load_n(&seen, __ATOMIC_ACQUIRE); }
  void set(s64 value, u64 executions) {
    __atomic_store_n(&cost, value, __ATOMIC_RELAXED);
    __atomic_store_n(&seen, executions, __ATOMIC_RELEASE);
  }
};
inline constexpr u32 cost_bits = 16;

/// Costs of all segments that were executed so often, by what the core model makes of all of them: those of a segment
/// are known then. Returns the cost of an instruction on the average; 0 where nothing could be asked. Wants cache_lock
/// held. Takes as long as core_finish().
s64 core_costs(const u64* executed, SegmentCost* costs);

}  // namespace tally::engine::instrument
