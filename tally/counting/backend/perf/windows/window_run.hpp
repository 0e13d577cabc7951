// A command with a row for each window that the kernel's counters or the PMU end.
#pragma once

#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/perf/pmu_devices.hpp"

namespace tally::backend::perf {

/// How the threads and children of a command are followed: as the kernel can, or traced in any case.
enum class Follow { as_the_kernel_can, traced };

/// Runs the order's command, or waits for the end of the processes that it is attached to, and hands windows on.
/// Errors: those of Backend::run(), and of window_events().
Result<WindowTotals> run_windows(const WindowOrder& order, const std::vector<linux::PmuDevice>& cores,
                                 Follow follow = Follow::as_the_kernel_can);

}  // namespace tally::backend::perf
