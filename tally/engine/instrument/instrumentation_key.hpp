/// Describes the instrumentation of this run, as far as persisted translations depend on it.
#pragma once
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/countdowns.hpp"
#include "tally/engine/instrument/jump_probes.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/python_frames.hpp"

namespace tally::engine::instrument {

/// Whether traces have stubs out of line.
inline bool has_probe_stubs() { return model_plan.any() || own_records.counts_down; }
/// Returns a number that identifies the instrumentation; 0 if there is none.
inline u64 instrumentation_key() { return models_key() ^ countdowns_key() ^ calls_key() ^ jumps_key() ^ python_key(); }
/// Whether instrumented code depends only on the program, the settings, and the addresses of both.
inline bool instrumentation_can_be_kept() { return models_can_be_kept() && channel::can_keep_code(settings().marks); }

}  // namespace tally::engine::instrument
