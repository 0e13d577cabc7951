/// Cycles by the core model: computed when a process ends, from the counters of its segments.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Reserves memory if cycles are requested. Called once, when the settings are known.
void core_init();

/// Saves the first `n` counters of a thread, which are about to be zeroed.
void core_collect(Thread* t, u32 n);

/// Computes the cycles of the saved counters and adds them to the page of `t`. Segments must not have changed. Takes
/// cache_lock; for core_finish_locked() the caller holds it. Takes 0.5 µs per distinct instruction that ran.
void core_finish(Thread* t);
void core_finish_locked(Thread* t);

/// Discards the saved counters. Called in the child of a fork: they are the parent's.
void core_forget();

/// The cost of one execution of a segment, as far as the core model has processed it.
struct SegmentCost {
  s64 cost;  ///< cycles, a fixed-point number with cost_bits fraction bits
  u64 seen;  ///< executions that it is an average of; 0: it is unknown

  u64 seen_now() const { return __atomic_load_n(&seen, __ATOMIC_ACQUIRE); }
  void set(s64 value, u64 executions) {
    __atomic_store_n(&cost, value, __ATOMIC_RELAXED);
    __atomic_store_n(&seen, executions, __ATOMIC_RELEASE);
  }
};
inline constexpr u32 cost_bits = 16;

/// The share of each class in the cost of a segment, or of an instruction.
struct ClassCosts {
  s64 of[channel::cycle_class_count];
};

/// Computes the costs of all executed segments from the executions of each, and from what ended threads and `t` missed.
/// Returns the average cost of an instruction; 0 if the core model could not run. The caller holds cache_lock. Takes as
/// long as core_finish(). `classes`: of the segments, and of an average instruction in the unused first element; null:
/// they are not needed.
s64 core_costs(Thread* t, const u64* executed, SegmentCost* costs, ClassCosts* classes);
/// For a process that samples cycles: finds the cost of a segment that was not executed then, from the costs of its
/// instructions. Single steps are such segments. Returns false if one of these is unknown. The caller holds cache_lock.
bool core_cost_from_instructions(u32 number, s64& cost);

}  // namespace tally::engine::instrument
