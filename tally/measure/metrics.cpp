#include "tally/measure/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tally::measure {
namespace {

// Which counts a metric is made of: those of the rows, or of every run.
class Source {
 public:
  Source(const result::Stat& stat, bool repeated) : stat_(stat), repeated_(repeated) {}

  void fill(result::Metric& metric, const BoundMetric& bound) const {
    std::vector<std::string> names;
    for (const std::size_t place : bound.events) names.push_back(stat_.events[place].total.name);
    metric.formula = bound.formula.renamed(names).text();
    if (!repeated_) {
      std::vector<Count> counts;
      for (const std::size_t place : bound.events) counts.push_back(stat_.events[place].total.count);
      metric.ratio = doubted(bound.formula.evaluate(counts), bound);
      return;
    }
    std::vector<Ratio> series;
    for (const result::Run& run : stat_.runs) {
      std::vector<Count> counts;
      for (const std::size_t place : bound.events) counts.push_back(run.counts[place].count);
      const Ratio ratio = doubted(bound.formula.evaluate(counts), bound);
      metric.runs.push_back(ratio.value);
      if (run.complete) series.push_back(ratio);
    }
    metric.summary = summarize_ratios(series);
    metric.ratio.value = metric.summary->median;
    metric.ratio.trust = metric.summary->trust;
    metric.ratio.reason = metric.summary->median ? series.front().reason : metric.summary->reason;
    metric.ratio.model = series.front().model;
  }

 private:
  // What one execution did of one event and another one of the other need not go together.
  Ratio doubted(Ratio ratio, const BoundMetric& bound) const {
    const auto holds_all = [&](const std::vector<std::string>& pass) {
      return std::all_of(bound.events.begin(), bound.events.end(), [&](std::size_t place) {
        return std::find(pass.begin(), pass.end(), stat_.events[place].total.name) != pass.end();
      });
    };
    const bool together = stat_.passes.empty() || std::any_of(stat_.passes.begin(), stat_.passes.end(), holds_all);
    if (!ratio.value || together) return ratio;
    ratio.trust = worst(ratio.trust, Trust::partial);
    ratio.reason += (ratio.reason.empty() ? "" : "; ") + std::string("of events that different executions counted");
    return ratio;
  }

  const result::Stat& stat_;
  bool repeated_;
};

// Two who count do not count alike: perf_event leaves out the last switch of a thread, wait4 has it. A share of one in
// the other could be more than all.
bool share_is_sound(const result::EventCount& part, const result::EventCount& whole) {
  return part.unit != Unit::events || part.count.source.empty() || whole.count.source.empty() ||
         part.count.source == whole.count.source;
}

// An event compared with the one that its line of the event table names.
std::vector<result::Metric> pairs(const StatOptions& options, const result::Stat& stat, const Source& source) {
  std::vector<result::Metric> metrics;
  const std::vector<event::Event>& asked = options.events;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const event::Definition& line = event::definition(asked[i].id);
    if (!line.per) continue;
    for (std::size_t j = 0; j < asked.size(); ++j) {
      if (asked[j].id != line.per->id || asked[j].mode != asked[i].mode) continue;
      if (line.per->share && !share_is_sound(stat.events[i].total, stat.events[j].total)) continue;
      const std::string& part = stat.events[i].total.name;
      const std::string& whole = stat.events[j].total.name;
      result::Metric metric;
      metric.name = fmt::format("{}/{}", line.name, event::definition(line.per->id).name);
      metric.unit = line.per->share ? "share" : "";
      metric.beside = part;
      metric.per = whole;
      source.fill(metric, {"", Formula::parse("a / b")->renamed({part, whole}), {i, j}});
      metrics.push_back(std::move(metric));
    }
  }
  return metrics;
}

bool has(const std::vector<result::Metric>& metrics, const std::string& name) {
  return std::any_of(metrics.begin(), metrics.end(), [&](const result::Metric& one) { return one.name == name; });
}

bool row_is_taken(const std::vector<result::Metric>& metrics, const std::string& event) {
  return std::any_of(metrics.begin(), metrics.end(), [&](const result::Metric& one) { return one.beside == event; });
}

// The events by the names that formulas have for them, with their modes: an event that was asked for by another name
// is the table's event all the same.
std::vector<std::string> names_for_formulas(const StatOptions& options, const result::Stat& stat) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < options.events.size(); ++i) {
    const std::string& full = stat.events[i].total.name;
    names.push_back(full);
    if (static_cast<std::size_t>(options.events[i].id) >= event::all().size()) continue;
    const event::Definition& line = event::definition(options.events[i].id);
    const std::size_t colon = event::has_modes(line.kind) ? full.rfind(':') : std::string::npos;
    names.back() = std::string(line.name) + (colon == std::string::npos ? "" : full.substr(colon));
  }
  return names;
}

// The full name of the event whose row a metric stands in: of those that it was bound to, the one that it names.
std::string row_of(const MetricChoice& choice, const BoundMetric& bound, const result::Stat& stat) {
  const std::vector<std::string>& bare = choice.formula.names();
  const auto found = std::find(bare.begin(), bare.end(), choice.beside);
  if (found == bare.end()) return {};
  return stat.events[bound.events[static_cast<std::size_t>(found - bare.begin())]].total.name;
}

// What was asked for is in the result, whatever came of its events.
result::Metric not_counted(const MetricChoice& choice) {
  result::Metric metric;
  metric.name = choice.name + choice.mode;
  metric.formula = choice.formula.text();
  metric.unit = choice.unit;
  metric.asked = true;
  metric.ratio.reason = "its events were not counted in one mode of the processor";
  return metric;
}

}  // namespace

std::vector<result::Metric> metrics(const StatOptions& options, const result::Stat& stat, bool repeated) {
  const Source source(stat, repeated);
  std::vector<result::Metric> metrics = pairs(options, stat, source);
  const std::vector<std::string> events = names_for_formulas(options, stat);
  const auto add = [&](const MetricChoice& choice) {
    const std::vector<BoundMetric> all = bind_metric(choice, events);
    if (all.empty() && choice.asked) metrics.push_back(not_counted(choice));
    for (const BoundMetric& bound : all) {
      if (has(metrics, bound.name)) continue;
      result::Metric metric;
      metric.name = bound.name;
      metric.unit = choice.unit;
      metric.asked = choice.asked;
      metric.beside = row_of(choice, bound, stat);
      if (!choice.asked && (metric.beside.empty() || row_is_taken(metrics, metric.beside))) continue;
      if (row_is_taken(metrics, metric.beside)) metric.beside.clear();
      source.fill(metric, bound);
      metrics.push_back(std::move(metric));
    }
  };
  for (const MetricChoice& choice : options.metrics) add(choice);
  for (const MetricChoice& choice : unasked_metrics()) add(choice);
  return metrics;
}

}  // namespace tally::measure
