// The core of the first Atom processors: Bonnell, which starts instructions in order, two a cycle.
#pragma once

#include "tally/engine/models/core/core.hpp"

namespace tally::models {

/// Timings of Bonnell; each row names its source. What came after SSSE3 is unknown to it.
extern constinit const CoreTable bonnell_core;

}  // namespace tally::models
