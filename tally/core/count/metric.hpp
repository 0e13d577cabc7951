// Metrics computed from several counts. metric_table.cpp contains the formulas.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/core/count/formula.hpp"

namespace tally {

/// A metric: a row of the table.
struct MetricDefinition {
  std::string_view name;
  std::string_view formula;    ///< a name without a mode matches any mode, the same for all names
  std::string_view unit;       ///< "share" (of 1; shown in percent), another unit, or empty for a plain number
  std::string_view row_event;  ///< the event in whose row it is shown if nothing else is; or empty
  std::string_view what;       ///< its meaning
};

/// All metrics.
std::span<const MetricDefinition> metric_table();

/// A metric to compute.
struct MetricChoice {
  std::string name;
  std::string unit;
  std::string row_event;
  Formula formula;
  Mode mode = Mode::user;
  bool asked = false;  ///< requested by name or formula; otherwise shown because its events are counted
  /// Its name, with the mode unless that is user: "IPC", "IPC:k".
  std::string full_name() const;
  bool operator==(const MetricChoice&) const = default;
};

/// Parses lists of metrics: comma-separated names of the table (any case, with `:k` or `:uk` for other modes than
/// user), `all`, or one user-defined NAME=FORMULA. Drops duplicates.
/// Errors: bad_usage for an unknown name (the hint suggests similar names), and those of Formula::parse().
Result<std::vector<MetricChoice>> parse_metrics(const std::vector<std::string>& lists);

/// Metrics of the table, marked as not requested: all, or those that are shown in the row of one of these events.
std::vector<MetricChoice> unasked_metrics(const std::vector<EventName>* rows = nullptr);

/// A metric whose event names are resolved.
struct BoundMetric {
  std::string name;                 ///< with its mode unless that is user: "IPC:k"
  std::string unit;                 ///< the metric's
  Formula formula;                  ///< with full names: "instructions:k / cycles:k"
  std::vector<std::size_t> events;  ///< indexes of formula.names() in the list of events
};

/// Resolves the metric for each mode in which all its events are in the list; a requested metric only for its mode.
std::vector<BoundMetric> bind_metric(const MetricChoice& metric, const std::vector<EventName>& events);

}  // namespace tally
