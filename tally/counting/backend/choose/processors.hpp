// Events as the kernel takes them for whole processors.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/pmu_devices.hpp"

namespace tally::backend {

/// An event on the processors of one PMU.
struct ProcessorEvent {
  std::string name;  ///< "instructions:u"
  std::string pmu;
  linux::PerfEvent event;
  std::string doubt;  ///< why the count is to be believed less; may be empty
  bool operator==(const ProcessorEvent&) const = default;
};

/// These events, to be counted by the PMUs of the processor, each by those that have it. Errors: cannot_measure, with
/// the reason, where none has one: the kernel's own events, and those of other units.
Result<std::vector<ProcessorEvent>> processor_events(const std::vector<event::Event>& events,
                                                     const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend
