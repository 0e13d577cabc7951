/// The stretches of all traces in which the models have registers or flags of the program: what is needed to give them
/// back where a thread leaves a trace in the middle.
#pragma once
#include "tally/engine/instrument/model_code.hpp"

namespace tally::engine::instrument {

/// Reserves room for them, once.
void ranges_init();
/// Those of a trace; `op`: the first one of its ways.
void add_ranges(u32 trace, const ModelRange* of, u32 n, u32 op);

}  // namespace tally::engine::instrument
