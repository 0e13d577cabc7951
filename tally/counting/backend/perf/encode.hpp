// Encodes events for perf_event_open(2) on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/count/source.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::backend::perf {

/// An event with its kernel encoding, or why it has none.
struct Encoded {
  linux::PerfEvent event;
  CountSource source;                 ///< what counts it: a PMU, or the kernel for its own events
  std::string doubt;                  ///< why the count is less reliable: a code that this PMU does not list
  std::string why_none;               ///< not empty: the event cannot be counted
  std::optional<int> processor = {};  ///< of a PMU outside the cores: where its counter is opened
  bool operator==(const Encoded&) const = default;
};

/// Encodes an event for a processor with these PMUs (of its cores only), usually in one way. A processor with several
/// kinds of cores has a PMU for each kind, which counts on that kind only: an event that names no PMU then has one
/// encoding for each. Pure, except for libpfm4's tables.
std::vector<Encoded> encode(const event::Event& event, const std::vector<linux::PmuDevice>& cores);

}  // namespace tally::backend::perf
