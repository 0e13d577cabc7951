// Rights of root that a process gives up.
#pragma once

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Gives up every capability of the calling thread but CAP_PERFMON, for good: no program that it executes gets one
/// back. Threads that it starts later have none either. What the process has does not grow. Errors: cannot_measure.
Result<void> keep_only_perfmon();

}  // namespace tally::linux
