// A command or an attachment, with samples of where it counts its events.
#pragma once

#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/perf/pmu_devices.hpp"

namespace tally::backend::perf {

/// Runs the order's command, or waits for the end of what it is attached to, and hands the code's counts on. Errors:
/// those of Backend::run(), and of code_events().
Result<CodeProfile> run_code(const ProfileOrder& order, const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend::perf
