#include "tally/hardware/event/count_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/count/region_reasons.hpp"

namespace tally::event {
namespace {

template <class IsSound>
std::vector<Metric> pairs(const std::vector<Counted>& counted, const IsSound& is_sound) {
  const Formula quotient = *Formula::parse("a / b");
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const Definition& line = definition(counted[i].event.id);
    if (!line.per) continue;
    for (std::size_t j = 0; j < counted.size(); ++j) {
      if (counted[j].event.id != line.per->id || counted[j].event.mode != counted[i].event.mode) continue;
      if (line.per->share && !is_sound(i, j)) continue;
      metrics.push_back({fmt::format("{}/{}", line.name, definition(line.per->id).name),
                         line.per->share ? "share" : "",
                         counted[i].name,
                         counted[j].name,
                         false,
                         quotient,
                         false,
                         {i, j}});
    }
  }
  return metrics;
}

bool has(const std::vector<Metric>& metrics, const std::string& name) {
  return std::any_of(metrics.begin(), metrics.end(), [&](const Metric& metric) { return metric.name == name; });
}

bool row_is_taken(const std::vector<Metric>& metrics, const EventName& event) {
  return std::any_of(metrics.begin(), metrics.end(), [&](const Metric& metric) { return metric.row_event == event; });
}

// The names of the events in formulas, with modes. An event that was requested by another name still has its generic
// name.
std::vector<EventName> names_for_formulas(const std::vector<Counted>& counted) {
  std::vector<EventName> names;
  for (const Counted& one : counted) {
    names.push_back(one.name);
    if (static_cast<std::size_t>(one.event.id) >= all().size()) continue;
    const Definition& line = definition(one.event.id);
    names.back() =
        has_modes(line.kind) ? EventName{std::string(line.name), one.name.mode} : split_event_name(line.name);
  }
  return names;
}

// The event in whose row a metric is shown: of the events it uses, the one that it names.
EventName row_of(const MetricChoice& choice, const BoundMetric& bound, const std::vector<Counted>& counted) {
  const std::vector<std::string>& bare = choice.formula.names();
  const auto found = std::find(bare.begin(), bare.end(), choice.row_event);
  if (found == bare.end()) return {};
  return counted[bound.events[static_cast<std::size_t>(found - bare.begin())]].name;
}

bool is_time(const Counted& one) {
  return static_cast<std::size_t>(one.event.id) < all().size() && definition(one.event.id).unit == Unit::nanoseconds;
}

// Not with estimated cycles, which are those of the machine that measures time.
bool combines_time(const std::vector<std::size_t>& events, const std::vector<Counted>& counted) {
  if (std::any_of(events.begin(), events.end(),
                  [&](std::size_t i) { return counted[i].event.id == Id::core_cycles_estimate; }))
    return false;
  const auto times = std::count_if(events.begin(), events.end(), [&](std::size_t i) { return is_time(counted[i]); });
  return times > 0 && times < std::ssize(events);
}

}  // namespace

std::string Metric::text(const std::vector<Counted>& counted) const {
  if (events.empty()) return formula.text();
  std::vector<std::string> names;
  for (const std::size_t index : events) names.push_back(counted[index].name.text());
  return formula.renamed(names).text();
}

Ratio Metric::evaluate(const std::vector<Count>& counts) const {
  if (!missing.empty()) return {{}, Trust::absent, fmt::format("without a count of {}", join(missing, ", ")), ""};
  if (events.empty()) return {{}, Trust::absent, "its events were not counted in one mode of the processor", ""};
  std::vector<Count> own;
  for (const std::size_t index : events) own.push_back(counts[index]);
  if (combines_time) {
    const auto modelled =
        std::find_if(own.begin(), own.end(), [](const Count& count) { return count.value && !count.model.empty(); });
    if (modelled != own.end())
      return {{}, Trust::absent, "modelled events and measured time are of two different machines", ""};
  }
  return formula.evaluate(own);
}

std::vector<Metric> metrics_of(const std::vector<Counted>& counted, const std::vector<MetricChoice>& asked,
                               const std::function<bool(std::size_t part, std::size_t whole)>& is_sound) {
  std::vector<Metric> metrics = pairs(counted, is_sound);
  const std::vector<EventName> names = names_for_formulas(counted);
  const auto add = [&](const MetricChoice& choice) {
    const std::vector<BoundMetric> all = bind_metric(choice, names);
    // A requested metric is always in the result, even if its events are missing.
    if (all.empty() && choice.asked) {
      metrics.push_back({choice.full_name(), choice.unit, {}, {}, true, choice.formula, false, {}});
      for (const std::string& bare : choice.formula.names())
        if (std::none_of(names.begin(), names.end(), [&](const EventName& name) { return name.base == bare; }))
          metrics.back().missing.push_back(bare);
    }
    for (const BoundMetric& bound : all) {
      if (has(metrics, bound.name)) continue;
      EventName row = row_of(choice, bound, counted);
      if (!choice.asked && (row.empty() || row_is_taken(metrics, row))) continue;
      if (row_is_taken(metrics, row)) row = {};
      metrics.push_back({bound.name,
                         choice.unit,
                         std::move(row),
                         {},
                         choice.asked,
                         bound.formula,
                         combines_time(bound.events, counted),
                         bound.events});
    }
  };
  for (const MetricChoice& choice : asked) add(choice);
  for (const MetricChoice& choice : unasked_metrics(&names)) add(choice);
  return metrics;
}

std::vector<RegionMetric> region_metrics(const std::vector<Event>& events, const std::vector<RegionEvent>& counts,
                                         const std::vector<MetricChoice>& asked) {
  std::vector<Counted> counted;
  std::vector<Count> totals;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counted.push_back({events[i], counts[i].event});
    totals.push_back(usable_total(counts[i]));
  }
  std::vector<RegionMetric> metrics;
  for (Metric& metric : metrics_of(counted, asked, [](std::size_t, std::size_t) { return true; })) {
    Ratio value = metric.evaluate(totals);
    if (std::find(metric.missing.begin(), metric.missing.end(), "duration_time") != metric.missing.end())
      value.reason = without_native_time;
    metrics.push_back(
        {metric.name, metric.text(counted), metric.unit, metric.row_event, metric.per, metric.asked, std::move(value)});
  }
  return metrics;
}

}  // namespace tally::event
