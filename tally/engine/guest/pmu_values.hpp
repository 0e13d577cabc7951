/// What read(2) of an event returns, and its samples contain.
#pragma once
#include "tally/engine/guest/pmu_table.hpp"

namespace tally::engine::guest {

/// The most values: the kernel limits what an event returns to 16 KB.
inline constexpr u32 value_limit = 2048;

/// Writes the values of an event, in its format, to `to`. Returns their size; 0 if a count is not known; ENOSPC if they
/// exceed `bytes`; or not_of_pmu. `in_sample`: the counts of a thread that several processors execute are divided among
/// them as its samples are.
s64 values_of(u32 event, u64* to, u64 bytes, bool in_sample = false);

}  // namespace tally::engine::guest
