// Plans which events this machine's PMU counts in one execution.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tally/hardware/event/plan.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend::perf {

/// Returns whether a PMU counts these events at the same time; linux::counts_together() asks the kernel.
using Together = std::function<bool(const std::vector<linux::PerfEvent>&)>;

/// Returns the plan for a processor with these PMUs. `interrupts`: counted, with a counter of its own, in each pass
/// that has a count to correct for them. With several kinds of cores, each kind must count all events of a pass. Events
/// of other PMUs are free, because those have counters of their own. Pure, except for `together` and libpfm4's tables.
event::Plan plan(const std::vector<event::Event>& events, const std::optional<event::Event>& interrupts,
                 const std::vector<linux::PmuDevice>& cores, const Together& together);

}  // namespace tally::backend::perf
