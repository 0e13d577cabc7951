/// The last branches that a thread has taken before a sample (PERF_SAMPLE_BRANCH_STACK).
///
/// A thread that is near an overflow executes single steps, and notes the addresses of the last instructions. The
/// branches among them are found when a sample asks for them.
#pragma once
#include <linux/perf_event.h>

#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// As many as most processors record.
inline constexpr u32 branch_limit = 32;

/// Whether the engine finds the branches that this filter (branch_sample_type) names.
bool can_record_branches(u64 filter);
/// Writes the last branches of the calling thread that the filter names, latest first. Returns their number.
u32 last_branches(const Thread* t, u64 filter, perf_branch_entry (&to)[branch_limit]);

}  // namespace tally::engine::guest
