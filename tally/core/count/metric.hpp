// Metrics: what several counts say together. The formulas themselves stand in metric_table.cpp.
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

/// One metric: a line of the table.
struct MetricDefinition {
  std::string_view name;
  std::string_view formula;  ///< names without a mode are those of one mode, whichever was counted
  std::string_view unit;     ///< "share" (of 1; shown in percent), another unit, or empty for a plain number
  std::string_view beside;   ///< the event in whose row it stands where nothing else does; or empty
  std::string_view what;     ///< what it means
};

/// All metrics.
std::span<const MetricDefinition> metric_table();

/// A metric that is to be computed.
struct MetricChoice {
  std::string name;
  std::string unit;
  std::string beside;
  Formula formula;
  Mode mode = Mode::user;
  bool asked = false;  ///< by name or formula; else it is there because its events are
  /// Its name, with the mode where that is not the user's: "IPC", "IPC:k".
  std::string full_name() const;
  bool operator==(const MetricChoice&) const = default;
};

/// Metrics from lists: names of the table separated by commas, with `:k` after for other modes than the user's, `all`,
/// or one NAME=FORMULA of the user's own. Names are taken in any case. A second mention is dropped.
/// Errors: bad_usage for an unknown name (the hint offers the nearest), and those of Formula::parse().
Result<std::vector<MetricChoice>> parse_metrics(const std::vector<std::string>& lists);

/// Every metric of the table, as nobody asked for it.
std::vector<MetricChoice> unasked_metrics();

/// A metric, and which events its names stand for.
struct BoundMetric {
  std::string name;                 ///< with its mode where that is not the user's: "IPC:k"
  std::string unit;                 ///< the metric's
  Formula formula;                  ///< in full names: "instructions:k / cycles:k"
  std::vector<std::size_t> events;  ///< the places of formula.names() in the list it was bound to
};

/// The metric for each mode in which all its events are in the list; for a metric that was asked for, only the
/// mode it was asked for.
std::vector<BoundMetric> bind_metric(const MetricChoice& metric, const std::vector<EventName>& events);

}  // namespace tally
