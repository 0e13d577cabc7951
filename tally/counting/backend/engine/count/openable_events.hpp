// The PMU that programs find with `--pmu`: the events that they can open themselves.
#pragma once

#include <string>
#include <vector>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/engine/channel/presented_pmu.hpp"

namespace tally::backend::engine {

/// Returns the kernel's generic events that need a model.
const std::vector<event::Event>& modelled_kernel_events();

/// Returns the events that the engine counts exactly, and those that these models count, with the encodings of the
/// kernel and of a processor. `cpu_model`: the one that programs see, as in Conditions.
channel::PresentedPmu presented_pmu(const std::string& cpu_model, const Modelling& modelling);

}  // namespace tally::backend::engine
