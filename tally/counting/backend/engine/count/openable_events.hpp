// The PMU that programs find with `--pmu`: the events that they can open themselves.
#pragma once

#include <string>

#include "tally/engine/channel/presented_pmu.hpp"

namespace tally::backend::engine {

/// Returns the events that the engine counts exactly, with the encodings of the kernel and of a processor. `cpu_model`:
/// the one that programs see, as in Conditions.
channel::PresentedPmu presented_pmu(const std::string& cpu_model);

}  // namespace tally::backend::engine
