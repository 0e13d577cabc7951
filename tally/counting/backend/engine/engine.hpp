// Counting without a PMU: the program runs under the engine, which counts exactly.
#pragma once

#include <memory>
#include <optional>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/simulation.hpp"

namespace tally::backend::engine {

/// The engine as a backend. It needs the file `tally-engine` next to the running command, or in ../libexec/tally.
/// `simulation`: the machine for events that need one; without it this one (`host`), when such an event is asked for.
std::unique_ptr<Backend> make(std::optional<Simulation> simulation = {});

}  // namespace tally::backend::engine
