// Metrics as they read beside an event, and by themselves.
#pragma once

#include <optional>
#include <string>

#include "tally/core/count/event_name.hpp"
#include "tally/core/count/region.hpp"
#include "tally/core/count/statistics.hpp"
#include "tally/output/result/stat.hpp"
#include "tally/output/text/footnotes.hpp"

namespace tally::report {

/// The metric that stands in the row of this event: a comparison with another event before any other one.
/// Null where there is none.
const result::Metric* beside(const result::Stat& stat, const EventName& event);

/// What a comparison of two events is called: "% of branches", "per instruction".
std::string relation(const result::Metric& metric);

/// A metric's value with its unit: "2.077", "4.94 %", "3.21 GHz"; "-" for none.
std::string metric_text(const std::optional<double>& value, const std::string& unit);

/// What the row of an event says: "4.94 % of branches", "0.301 per instruction", "IPC 2.077"; empty for none.
std::string row_metric_text(const result::Stat& stat, const EventName& event);
std::string row_metric_text(const RegionCounts& counts, const EventName& event);

/// How far the values of a series lie from its median, at most, in percent of it: nothing for a series of one, and for
/// values around a median of 0.
template <class T>
std::optional<double> spread_percent(const SummaryOf<T>& summary);

/// The block of the metrics that were asked for, with the notes that are new in it; empty where none was.
std::string metrics_block(const result::Stat& stat, Footnotes& notes, std::size_t terminal = 0);

}  // namespace tally::report
