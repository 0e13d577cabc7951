// Metrics that are asked for: their list, and the events that they need.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::cli {

/// Every metric that has a name, a line each.
std::string metric_list();

/// Adds the events that the metrics need and that were not asked for, each in the mode of its metric. Errors:
/// bad_usage.
Result<void> add_events_of(const std::vector<MetricChoice>& metrics, std::vector<event::Event>& events);

}  // namespace tally::cli
