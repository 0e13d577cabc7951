// The core of the first Atom processors: Bonnell, which starts instructions in order, two per cycle.
#pragma once

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

/// Timings of Bonnell; each row names its source. Extensions after SSSE3 have no timing.
extern constinit const CoreTable bonnell_core;

}  // namespace tally::models
