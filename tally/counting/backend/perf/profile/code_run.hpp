// Samples the code of a command or an attachment.
#pragma once

#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::backend::perf {

/// Runs the order's command, or waits until the attached processes end, and returns the profile. Errors: those of
/// Backend::run() and code_events().
Result<Outcome> run_code(const Order& order, const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend::perf
