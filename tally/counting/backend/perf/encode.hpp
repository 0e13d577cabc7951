// What perf_event_open(2) is told, so that it counts an event on this machine.
#pragma once

#include <string>
#include <vector>

#include "tally/core/count/source.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/pmu_devices.hpp"

namespace tally::backend::perf {

/// An event as the kernel takes it, or why it takes none.
struct Encoded {
  linux::PerfEvent event;
  CountSource source;    ///< who will count: a PMU, or the kernel its own events
  std::string doubt;     ///< why such a count is to be believed less: a code that this PMU does not list
  std::string why_none;  ///< not empty: it cannot be asked for
  bool operator==(const Encoded&) const = default;
};

/// For the machine whose processor has these PMUs (its cores' only): one encoding as a rule. A processor with several
/// kinds of cores has a PMU for each, which count nothing on the others' cores: there an event that names no PMU has an
/// encoding for every kind. Pure, but for libpfm4's tables.
std::vector<Encoded> encode(const event::Event& event, const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend::perf
