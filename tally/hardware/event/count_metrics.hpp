// Computes the metrics of counted events.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tally/core/count/metric.hpp"
#include "tally/core/count/region.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::event {

/// A counted event.
struct Counted {
  Event event;
  EventName name;  ///< as displayed
};

/// A metric, and the counts that it uses.
struct Metric {
  std::string name;  ///< "branches/instructions", "IPC", "IPC:k"
  std::string unit;
  EventName row_event;                    ///< the event in whose row it is shown; or empty
  EventName per;                          ///< the event that `row_event` is compared with; empty for other metrics
  bool asked = false;                     ///< requested by the user; otherwise shown because its events are counted
  Formula formula;                        ///< over the counted events; if `events` is empty, over the missing ones
  bool combines_time = false;             ///< mixes events with measured time: not valid for modelled events
  std::vector<std::size_t> events;        ///< the counts of its names; empty if some were not counted in one mode
  std::vector<std::string> missing = {};  ///< names without a count in any mode

  /// The formula with full names.
  std::string text(const std::vector<Counted>& counted) const;
  /// Its value; absent, with the reason, if an event is.
  Ratio evaluate(const std::vector<Count>& counts) const;
};

/// Computes the metrics to show: each event compared with its `per` event of the table, if both were counted; the
/// requested metrics; and the table's metrics that belong to an event's row. `is_sound(part, whole)`: whether `part`
/// may be shown as a share of `whole`.
std::vector<Metric> metrics_of(const std::vector<Counted>& counted, const std::vector<MetricChoice>& asked,
                               const std::function<bool(std::size_t part, std::size_t whole)>& is_sound);

/// The metrics of a region. One backend counted all of its events, so every share is sound. `counts` are in the order
/// of `events`.
std::vector<RegionMetric> region_metrics(const std::vector<Event>& events, const std::vector<RegionEvent>& counts,
                                         const std::vector<MetricChoice>& asked);

}  // namespace tally::event
