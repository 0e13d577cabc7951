// Encodes events for counting on whole CPUs.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::rdpmc {

/// An event on the CPUs of one PMU.
struct ProcessorEvent {
  std::string name;  ///< "instructions:u"
  std::string pmu;
  linux::PerfEvent event;
  std::string doubt;  ///< why the count is less reliable; may be empty
  bool operator==(const ProcessorEvent&) const = default;
};

/// Encodes these events for each of the processor's PMUs that has them. Errors: cannot_measure, with the reason, if no
/// PMU has an event: it is one of the kernel's own events, or of another unit.
Result<std::vector<ProcessorEvent>> processor_events(const std::vector<event::Event>& events,
                                                     const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::rdpmc
