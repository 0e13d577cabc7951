#include "tally/cli/metric_options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tally::cli {

std::string metric_list() {
  std::string text;
  for (const MetricDefinition& line : metric_table()) {
    text += fmt::format("{:<30} {:<48} {}\n", line.name, line.formula, line.what);
  }
  return text;
}

Result<void> add_events_of(const std::vector<MetricChoice>& metrics, std::vector<event::Event>& events) {
  std::vector<std::string> names;
  for (const MetricChoice& metric : metrics) {
    for (const std::string& name : metric.formula.names()) {
      // Software events have no mode, whatever the metric's mode is.
      const std::string full = metric.mode == Mode::user ? name : EventName{name, metric.mode}.text();
      names.push_back(event::parse(full) ? full : name);
    }
  }
  auto needed = event::parse_lists(names);
  if (!needed) return fail(needed.error());
  for (event::Event& event : *needed) {
    const bool there = std::any_of(events.begin(), events.end(),
                                   [&](const event::Event& other) { return event::name(other) == event::name(event); });
    if (!there) events.push_back(std::move(event));
  }
  return {};
}

}  // namespace tally::cli
