// Which events this machine's PMU counts in one execution.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tally/hardware/event/plan.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/pmu_devices.hpp"

namespace tally::backend::perf {

/// Whether a PMU counts these at the same time; linux::counts_together() asks the kernel.
using Together = std::function<bool(const std::vector<linux::PerfEvent>&)>;

/// The plan for the machine whose processor has these PMUs. `interrupts`: counted beside each pass in which they add to
/// a count; that takes a counter, too. With several kinds of cores every one of them must count
/// all events of a pass. Events of other PMUs than the processor's are free: those have counters of their own. Pure but
/// for what `together` does, and libpfm4's tables.
event::Plan plan(const std::vector<event::Event>& events, const std::optional<event::Event>& interrupts,
                 const std::vector<linux::PmuDevice>& cores, const Together& together);

}  // namespace tally::backend::perf
