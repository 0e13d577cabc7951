/// What the code of this run has woven into it, as far as kept translations depend on it.
#pragma once
#include "tally/engine/instrument/calls.hpp"
#include "tally/engine/instrument/marks.hpp"
#include "tally/engine/instrument/models.hpp"
#include "tally/engine/instrument/windows.hpp"

namespace tally::engine::instrument {

/// Whether code stands beside the way of a trace.
inline bool has_probe_stubs() { return model_plan.any() || windows_on(); }
/// Another number for each way of weaving; 0 where nothing is.
inline u64 instrumentation_key() { return models_key() ^ windows_key() ^ calls_key(); }
/// Whether such code depends on nothing but the program, what is asked, and where they are.
inline bool instrumentation_can_be_kept() { return models_can_be_kept() && !marks_on(); }

}  // namespace tally::engine::instrument
