#include "tally/output/kit/metric_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "tally/core/count/formula.hpp"

namespace tally::output {

std::optional<MetricBounds> estimate_bounds(const Count& count) {
  if (count.trust != Trust::estimated || !count.value || !count.error_percent) return std::nullopt;
  const auto value = static_cast<double>(*count.value);
  const double error = value * *count.error_percent / 100;
  return MetricBounds{value - error, value + error};
}

std::optional<MetricBounds> metric_bounds(const result::Metric& metric, const std::vector<result::Event>& events) {
  const auto formula = Formula::parse(metric.formula);
  if (!formula) return std::nullopt;
  std::optional<MetricBounds> all;
  // Whether the parts of the time, and the other estimates, are at their upper bounds.
  for (const auto& [more_user, more] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
    std::vector<Count> counts;
    bool has_estimate = false;
    for (const std::string& name : formula->names()) {
      const auto event = std::find_if(events.begin(), events.end(), [&](const result::Event& candidate) {
        return candidate.total.name.text() == name;
      });
      if (event == events.end()) return std::nullopt;
      counts.push_back(event->total.count);
      const auto bounds = estimate_bounds(event->total.count);
      if (!bounds) continue;
      has_estimate = true;
      const std::string& base = event->total.name.base;
      const bool is_high = base == "user_time" ? more_user : base == "system_time" ? !more_user : more;
      counts.back().value = std::llround(is_high ? bounds->high : bounds->low);
    }
    const auto value = formula->evaluate(counts).value;
    if (!has_estimate || !value) return std::nullopt;
    if (!all) all = MetricBounds{*value, *value};
    all = MetricBounds{std::min(all->low, *value), std::max(all->high, *value)};
  }
  return all;
}

}  // namespace tally::output
