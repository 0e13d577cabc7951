/// Cycles by the core model: counted up when a process ends, out of what its counters say of each segment.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Reserves what it needs, where cycles are asked for. Called once, when the settings are known.
void core_init();

/// The counters of a thread are about to be zeroed: `n` of them from `c` on.
void core_collect(const u64* c, u32 n);

/// What was collected becomes cycles, in the page of `t`. The segments are still what they were. Takes cache_lock, or
/// has it taken. Half a microsecond for each different instruction that ran.
void core_finish(Thread* t);
void core_finish_locked(Thread* t);

/// In the child of a fork: what was collected is the parent's.
void core_forget();

}  // namespace tally::engine::instrument
