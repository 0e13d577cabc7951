// The core of the Xeon E5-1620 v3 and its family: Haswell.
#pragma once

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

/// Timings of Haswell; each row names its source. AVX-512 and later extensions have no timing.
extern constinit const CoreTable haswell_core;

}  // namespace tally::models
