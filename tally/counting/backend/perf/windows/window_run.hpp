// Runs a command and records windows with a PMU or the kernel's counters.
#pragma once

#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::backend::perf {

/// How to follow the threads and children of a command: by inheritance if the kernel supports it, or always by tracing.
enum class Follow { as_the_kernel_can, traced };

/// Runs the order's command, or waits until the attached processes end, and passes windows to the sink. Errors: those
/// of Backend::run() and window_events().
Result<Outcome> run_windows(const Order& order, const std::vector<linux::PmuDevice>& cores,
                            Follow follow = Follow::as_the_kernel_can);

}  // namespace tally::backend::perf
