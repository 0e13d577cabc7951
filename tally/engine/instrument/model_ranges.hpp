/// The code ranges of all traces in which the models have borrowed registers or flags of the program. They are needed
/// to restore these if a thread leaves a trace in the middle.
#pragma once
#include "tally/engine/instrument/model_code.hpp"

namespace tally::engine::instrument {

/// Reserves memory for the ranges, once.
void ranges_init();
/// Adds the ranges of a trace; `op`: the first operation of its paths.
void add_ranges(u32 trace, const ModelRange* of, u32 n, u32 op);

}  // namespace tally::engine::instrument
