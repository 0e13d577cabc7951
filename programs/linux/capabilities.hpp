// Drops the privileges of root.
#pragma once

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Drops every capability of the calling thread except CAP_PERFMON, permanently: programs that it executes cannot
/// regain them, and threads that it starts later do not have them either. Adds none. Errors: cannot_measure.
Result<void> keep_only_perfmon();

}  // namespace tally::linux
