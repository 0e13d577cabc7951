// The metrics that a user can request, and the events that they need.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::cli {

/// All metrics, one line each.
std::string metric_list();

/// Adds the events that the metrics need and the user did not request, each in the mode of its metric. Errors:
/// bad_usage.
Result<void> add_events_of(const std::vector<MetricChoice>& metrics, std::vector<event::Event>& events);

}  // namespace tally::cli
