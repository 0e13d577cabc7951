// The backend that counts without a PMU: the program runs under the engine, which counts exactly.
#pragma once

#include <memory>
#include <optional>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/simulation.hpp"

namespace tally::backend::engine {

/// Creates the backend. It needs the file `tally-engine` next to the running command, or in ../libexec/tally.
/// `simulation`: the machine for events that need a model; without it this machine, if such an event is requested.
std::unique_ptr<Backend> make(std::optional<Simulation> simulation = {});

}  // namespace tally::backend::engine
