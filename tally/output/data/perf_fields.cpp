#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/output/data/perf_values.hpp"
#include "tally/output/kinds/intervals.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/csv_rows.hpp"
#include "tally/output/kit/metric_text.hpp"

namespace tally::output {
namespace {

// The order of perf's stat-display.c (Linux 6.1): value, unit, event, the spread of several runs, the time that the
// counter ran, its share, and a metric with its unit. tally adds the trust and its reason.
using Cells = std::vector<std::string>;

std::string running_time(const Count& count) {
  return count.reading ? std::to_string(count.reading->time_running.count()) : "";
}

// Counts without a reading were not multiplexed: 100 %, unless there is no value at all.
std::string running_share(const Count& count) {
  const double share = running_percent(count).value_or(count.value ? 100 : 0);
  return fmt::format("{:.2f}", share);
}

// perf's names: percentages have the sign in the unit, other metrics their name.
void add_metric(Cells& cells, const result::Metric* metric) {
  const bool has_value = metric && metric->ratio.value;
  const bool share = metric && metric->unit == "share";
  cells.push_back(has_value ? fmt::format("{:.6g}", *metric->ratio.value * (share ? 100 : 1)) : "");
  cells.push_back(!metric ? "" : metric->per.empty() ? metric->name + (share ? " (%)" : "") : relation(*metric));
}

class FieldLines {
 public:
  FieldLines(const result::Stat& stat, const Style& style) : stat_(stat), style_(style) {}

  std::string text_of_interval(const result::Interval& interval) {
    time_ = fmt::format("{}.{:09}", interval.end.count() / 1'000'000'000, interval.end.count() % 1'000'000'000);
    for (const result::EventCount& event_count : interval.counts) add_event({event_count, std::nullopt});
    return std::move(text_);
  }

  std::string text() {
    bool has_intervals = false;
    for (const result::Run& run : stat_.runs) {
      has_intervals |= !run.intervals.empty();
      if (style_.intervals)
        for (const result::Interval& interval : run.intervals)
          text_ += FieldLines(stat_, style_).text_of_interval(interval);
    }
    // As perf, which prints no totals after intervals: a parser would read them as another interval.
    if (has_intervals) return std::move(text_);
    for (const result::Event& row : stat_.events) add_event(row);
    for (const result::Metric& metric : stat_.metrics) {
      if (metric.asked) add_metric_alone(metric);
    }
    return std::move(text_);
  }

 private:
  bool repeated() const { return stat_.runs_asked > 1; }

  void add(const Cells& cells) { text_ += csv_row(cells, style_.separator) + "\n"; }

  void add_event(const result::Event& row) {
    const Count& count = row.total.count;
    Cells cells;
    if (!time_.empty()) cells.push_back(time_);
    cells.insert(cells.end(), {perf_value(row.total), perf_unit(row.total), perf_name(row.total)});
    if (repeated()) {
      const auto spread = row.summary ? spread_percent(*row.summary) : std::nullopt;
      cells.push_back(spread ? fmt::format("{:.2f}%", *spread) : "");
    }
    cells.push_back(running_time(count));
    cells.push_back(running_share(count));
    add_metric(cells, metric_in_row(stat_, row.total.name));
    cells.emplace_back(name(count.trust));
    cells.push_back(count.reason);
    add(cells);
  }

  void add_metric_alone(const result::Metric& metric) {
    Cells cells(repeated() ? 6 : 5);
    add_metric(cells, &metric);
    cells.emplace_back(name(metric.ratio.trust));
    cells.push_back(metric.ratio.reason);
    add(cells);
  }

  const result::Stat& stat_;
  const Style& style_;
  std::string time_;  // end of the interval in seconds, in its lines
  std::string text_;
};

}  // namespace

std::string interval_fields(const result::Interval& interval, const Style& style) {
  static const result::Stat none;
  return FieldLines(none, style).text_of_interval(interval);
}

Result<std::string> fields(const result::Stat& stat, const Style& style) {
  if (style.per_process || style.per_thread) {
    return fail(Code::bad_usage, "the fields of -x cannot represent processes and threads", "use `--format csv`");
  }
  return FieldLines(stat, style).text();
}

}  // namespace tally::output
