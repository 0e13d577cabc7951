#include "tally/counting/measure/result_metrics.hpp"

#include <algorithm>
#include <utility>

#include "tally/hardware/event/count_metrics.hpp"

namespace tally::measure {
namespace {

// Evaluates metrics with the counts of the result's rows, or of every run.
class MetricCounts {
 public:
  MetricCounts(const result::Stat& stat, bool repeated)
      : stat_(stat),
        repeated_(repeated),
        totals_(counts_of(stat.events, [](const auto& row) { return row.total.count; })) {}

  void fill(result::Metric& metric, const event::Metric& planned) const {
    if (!repeated_ || planned.events.empty()) {
      metric.ratio = downgraded_if_apart(planned.evaluate(totals_), planned);
      return;
    }
    std::vector<Ratio> series;
    for (const result::Run& run : stat_.runs) {
      const Ratio ratio = downgraded_if_apart(
          planned.evaluate(counts_of(run.counts, [](const auto& one) { return one.count; })), planned);
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
  template <class Rows, class Get>
  static std::vector<Count> counts_of(const Rows& rows, const Get& get) {
    std::vector<Count> counts;
    for (const auto& row : rows) counts.push_back(get(row));
    return counts;
  }

  // Makes a ratio partial if different executions counted its events, because these may not correspond.
  Ratio downgraded_if_apart(Ratio ratio, const event::Metric& planned) const {
    const auto holds_all = [&](const std::vector<std::string>& pass) {
      return std::all_of(planned.events.begin(), planned.events.end(), [&](std::size_t place) {
        return std::find(pass.begin(), pass.end(), stat_.events[place].total.name.text()) != pass.end();
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
  std::vector<Count> totals_;  // of the rows
};

// Different sources count differently: perf_event omits the last switch of a thread, wait4 has it. A share between them
// could exceed 100 %.
bool share_is_sound(const result::EventCount& part, const result::EventCount& whole) {
  return part.unit != Unit::events || !part.count.source.is_known() || !whole.count.source.is_known() ||
         part.count.source == whole.count.source;
}

}  // namespace

std::vector<result::Metric> metrics(const StatOptions& options, const result::Stat& stat, bool repeated) {
  std::vector<event::Counted> counted;
  for (std::size_t i = 0; i < options.events.size(); ++i)
    counted.push_back({options.events[i], stat.events[i].total.name});
  const MetricCounts source(stat, repeated);
  std::vector<result::Metric> metrics;
  const auto is_sound = [&](std::size_t part, std::size_t whole) {
    return share_is_sound(stat.events[part].total, stat.events[whole].total);
  };
  for (event::Metric& planned : event::metrics_of(counted, options.metrics, is_sound)) {
    result::Metric metric;
    metric.name = planned.name;
    metric.formula = planned.text(counted);
    metric.unit = planned.unit;
    metric.row_event = planned.row_event;
    metric.per = planned.per;
    metric.asked = planned.asked;
    source.fill(metric, planned);
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

}  // namespace tally::measure
