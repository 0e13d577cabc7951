// Formats metrics, in the rows of events and in their own block.
#pragma once

#include <optional>
#include <string>

#include "tally/core/count/event_name.hpp"
#include "tally/core/count/region.hpp"
#include "tally/core/count/statistics.hpp"
#include "tally/output/kit/footnotes.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// The metric shown in the row of this event; prefers a comparison with another event. Null if there is none.
const result::Metric* metric_in_row(const result::Stat& stat, const EventName& event);

/// The name of a comparison of two events: "% of branches", "per instruction".
std::string relation(const result::Metric& metric);

/// A metric's value with its unit: "2.077", "4.94 %", "3.21 GHz"; "-" for no value.
std::string metric_text(const std::optional<double>& value, const std::string& unit);

/// The metric in the row of an event: "4.94 % of branches", "0.301 per instruction", "IPC 2.077"; empty if there is
/// none.
std::string row_metric_text(const result::Stat& stat, const EventName& event);
std::string row_metric_text(const RegionCounts& counts, const EventName& event);

/// The largest distance of the values of a series from their median, in percent of it. No value for a series of one
/// value, or if the median is 0.
template <class T>
std::optional<double> spread_percent(const SummaryOf<T>& summary);

/// The table of the requested metrics, followed by new notes; empty if no metric was requested.
std::string metrics_block(const result::Stat& stat, Footnotes& notes, std::size_t terminal = 0);

}  // namespace tally::output
