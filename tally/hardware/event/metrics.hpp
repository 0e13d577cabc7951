// Which metrics events make together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tally/core/count/metric.hpp"
#include "tally/core/count/region.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// An event as it was counted.
struct Counted {
  Event event;
  EventName name;  ///< as it is shown
};

/// A metric, and the counts that it is made of.
struct Metric {
  std::string name;  ///< "branches/instructions", "IPC", "IPC:k"
  std::string unit;
  EventName beside;                 ///< the event in whose row it is; or empty
  EventName per;                    ///< the event that `beside` is compared with; empty for other metrics
  bool asked = false;               ///< by the user; else it is there because its events are
  Formula formula;                  ///< of what was counted; of the events that are missing, where `events` is empty
  bool combines_time = false;       ///< events with a measured time: not of modelled events, which took no such time
  std::vector<std::size_t> events;  ///< whose counts its names stand for; none where some were not counted in one mode

  /// The formula in full names.
  std::string text(const std::vector<Counted>& counted) const;
  /// Its value. Absent, with the reason, where an event is.
  Ratio evaluate(const std::vector<Count>& counts) const;
};

/// Each event compared with the one that its line of the table names, where both were counted; the metrics that were
/// asked for; and those of the table that fit into the row of an event. `is_sound(part, whole)` says whether one may be
/// shown as a share of the other.
std::vector<Metric> metrics_of(const std::vector<Counted>& counted, const std::vector<MetricChoice>& asked,
                               const std::function<bool(std::size_t part, std::size_t whole)>& is_sound);

/// The metrics of a region, of whose events one who counts has counted all: each is a sound share of another. `counts`
/// are of `events`, in their order.
std::vector<RegionMetric> region_metrics(const std::vector<Event>& events, const std::vector<RegionEvent>& counts,
                                         const std::vector<MetricChoice>& asked);

}  // namespace tally::event
