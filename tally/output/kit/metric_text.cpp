#include "tally/output/kit/metric_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tally/core/base/text.hpp"
#include "tally/output/kit/footnotes.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/metric_bounds.hpp"

namespace tally::output {
namespace {

// A count with the metric's trust, error and reason, for the notes.
Count as_count(const result::Metric& metric, const result::Stat& stat) {
  Count count;
  if (const auto bounds = metric_bounds(metric, stat.events);
      bounds && metric.ratio.value && bounds->low < bounds->high)
    count.error_percent = 100 * std::max(bounds->high - *metric.ratio.value, *metric.ratio.value - bounds->low) /
                          std::abs(*metric.ratio.value);
  count.trust = metric.ratio.trust;
  count.reason = metric.ratio.reason;
  count.model = metric.ratio.model;
  return count;
}

bool repeated(const result::Stat& stat) {
  return std::any_of(stat.metrics.begin(), stat.metrics.end(), [](const auto& one) { return one.summary.has_value(); });
}

// Prefers a comparison with another event to any other metric.
template <class Metric>
const Metric* metric_next_to(const std::vector<Metric>& metrics, const EventName& event) {
  const Metric* found = nullptr;
  for (const Metric& metric : metrics) {
    if (metric.row_event != event) continue;
    if (!metric.per.empty()) return &metric;
    if (!found) found = &metric;
  }
  return found;
}

std::string relation_to(const EventName& per, const std::string& unit) {
  if (unit == "share") return "% of " + per.base;
  std::string one = per.base;
  if (one.ends_with("_time")) return "per ns";
  if (one.ends_with('s')) one.pop_back();
  return "per " + one;
}

// "0.281", "111,111.111", "<0.001"
std::string three_decimals(double value) {
  if (value > 0 && value < 0.0005) return "<0.001";
  const std::string text = fmt::format("{:.3f}", value);
  return value < 1'000 || value >= 1e15 ? text : thousands(std::stoll(text)) + text.substr(text.find('.'));
}

template <class Metric>
std::string text_next_to(const std::vector<Metric>& metrics, const EventName& event) {
  const Metric* metric = metric_next_to(metrics, event);
  if (!metric || !metric->ratio.value) return {};
  const double value = *metric->ratio.value;
  if (metric->per.empty() && metric->unit.empty() && value >= 0.01)
    return fmt::format("{} {:.3f}", metric->name, value);
  if (metric->per.empty()) return fmt::format("{} {}", metric->name, metric_text(value, metric->unit));
  if (metric->unit == "share") return fmt::format("{} of {}", percent_text(value * 100), metric->per.base);
  return fmt::format("{} {}", three_decimals(value), relation_to(metric->per, metric->unit));
}

}  // namespace

const result::Metric* metric_in_row(const result::Stat& stat, const EventName& event) {
  return metric_next_to(stat.metrics, event);
}

std::string relation(const result::Metric& metric) { return relation_to(metric.per, metric.unit); }

std::string metric_text(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "share") return percent_text(*value * 100);
  // Does not repeat a unit that is part of the metric's name.
  return number_text(*value) + (unit == "GHz" ? " " + unit : "");
}

std::string row_metric_text(const result::Stat& stat, const EventName& event) {
  return text_next_to(stat.metrics, event);
}

std::string row_metric_text(const RegionCounts& counts, const EventName& event) {
  return text_next_to(counts.metrics, event);
}

template <class T>
std::optional<double> spread_percent(const SummaryOf<T>& summary) {
  if (summary.n < 2 || !summary.median || !summary.min || !summary.max) return std::nullopt;
  const double above = static_cast<double>(*summary.max) - *summary.median;
  const double farthest = std::max(above, *summary.median - static_cast<double>(*summary.min));
  if (farthest == 0) return 0;
  if (*summary.median == 0) return std::nullopt;
  return farthest / std::abs(*summary.median) * 100;
}

template std::optional<double> spread_percent(const SummaryOf<std::int64_t>& summary);
template std::optional<double> spread_percent(const SummaryOf<double>& summary);

std::string metrics_block(const result::Stat& stat, Footnotes& notes, std::size_t terminal) {
  for (const result::Metric& metric : stat.metrics) {
    if (metric.asked) notes.announce(as_count(metric, stat));
  }
  const bool series = repeated(stat);
  Grid grid({{"metric"},
             {series ? "median" : "value", Align::right},
             {"min", Align::right},
             {"max", Align::right},
             formula_column("formula"),
             key_column("trust")});
  bool any = false;
  for (const result::Metric& metric : stat.metrics) {
    if (!metric.asked) continue;
    any = true;
    const auto cell = [&](const std::optional<double>& value) { return value ? metric_text(value, metric.unit) : ""; };
    const RatioSummary summary = metric.summary.value_or(RatioSummary{});
    grid.add({metric.name, metric_text(metric.ratio.value, metric.unit), cell(summary.min), cell(summary.max),
              metric.formula, notes.cell(as_count(metric, stat))});
  }
  if (!any) return {};
  std::string text = grid.text(terminal);
  if (const std::string below = notes.text(); !below.empty()) text += "\n" + below;
  return text;
}

}  // namespace tally::output
