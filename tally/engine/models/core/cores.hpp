// The cores, one per line. Each row of their tables names its source.
#pragma once

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

extern constinit const CoreTable haswell_core;
extern constinit const CoreTable skylake_core;
extern constinit const CoreTable icelake_server_core;
extern constinit const CoreTable sapphire_rapids_core;
extern constinit const CoreTable zen2_core;
extern constinit const CoreTable zen3_core;
extern constinit const CoreTable zen4_core;
extern constinit const CoreTable zen5_core;
extern constinit const CoreTable bonnell_core;  ///< the first Atom, in order

}  // namespace tally::models
