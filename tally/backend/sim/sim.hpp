// Counting without a PMU: the program runs under the engine, which counts exactly.
#pragma once

#include <memory>

#include "tally/backend/backend.hpp"

namespace tally::backend::sim {

/// The simulated PMU. It needs the file `tally-engine` beside the running command, or in ../libexec/tally.
std::unique_ptr<Backend> make();

}  // namespace tally::backend::sim
