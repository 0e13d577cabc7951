// The page of a program's regions: counts per entry, and their distribution.
#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/metric_text.hpp"

namespace tally::output {
namespace {

std::string events_table(const RegionResult& region) {
  HtmlTable table({"event", "#total", "#per entry", "#minimum", "#maximum", "per", "trust"});
  for (const RegionEvent& event : region.all.events) {
    table.add({event.event.text(), number_or_dash(event.total.value), per_entry_text(event, region.all.entries),
               number_or_dash(event.least), number_or_dash(event.most), row_metric_text(region.all, event.event),
               trust_text(event)});
  }
  return table.html();
}

std::string metrics_table(const RegionCounts& counts) {
  HtmlTable table({"metric", "#value", "formula", "trust", "remark"});
  for (const RegionMetric& metric : counts.metrics) {
    if (!metric.asked) continue;
    table.add({metric.name, metric_text(metric.ratio.value, metric.unit), metric.formula,
               std::string(name(metric.ratio.trust)), metric.ratio.reason});
  }
  return table.html();
}

std::string threads_table(const RegionResult& region) {
  if (region.threads.size() < 2) return {};
  std::vector<std::string> headings{"thread", "#entries"};
  for (const RegionEvent& event : region.all.events) headings.push_back("#" + event.event.text());
  HtmlTable table(std::move(headings));
  for (const RegionThread& thread : region.threads) {
    std::vector<std::string> cells{std::to_string(thread.thread),
                                   thousands(static_cast<std::int64_t>(thread.counts.entries))};
    for (const RegionEvent& event : thread.counts.events) cells.push_back(number_or_dash(event.total.value));
    table.add(std::move(cells));
  }
  return folded(plural(static_cast<std::int64_t>(region.threads.size()), "thread", "threads"), table.html());
}

// One chart for each event, because their counts differ by orders of magnitude; regions share a chart.
std::string histogram_charts(const result::ProgramRegions& program) {
  std::vector<Chart> charts;
  for (const RegionResult& region : program.regions) {
    for (const RegionEvent& event : region.all.events) {
      // With one bucket, minimum and maximum show the same.
      if (event.histogram.size() < 2) continue;
      auto chart = charts.begin();
      while (chart != charts.end() && chart->title != event.event.text() + " per entry") ++chart;
      if (chart == charts.end()) {
        charts.push_back({.title = event.event.text() + " per entry",
                          .caption = "Number of entries by their count.",
                          .x = {.label = event.event.text()},
                          .y = {.label = "entries", .unit = {}, .logarithmic = true, .least = 0.5},
                          .steps = true});
        chart = charts.end() - 1;
      }
      ChartSeries series{.name = region.name, .color = static_cast<int>(chart->series.size()) % chart_colors};
      for (std::size_t i = 0; i < event.histogram.size(); ++i) {
        const RegionBucket& one = event.histogram[i];
        series.points.push_back({.x = static_cast<double>(one.least), .y = static_cast<double>(one.entries)});
        const bool gap = i + 1 == event.histogram.size() || event.histogram[i + 1].least > one.most + 1;
        if (gap) series.points.push_back({.x = static_cast<double>(one.most + 1), .y = 0});
      }
      chart->series.push_back(std::move(series));
    }
  }
  std::string html;
  for (const Chart& chart : charts) html += figure(chart);
  return html;
}

}  // namespace

std::string title_of(const result::ProgramRegions& program) {
  return fmt::format("Regions of {} (process {})", shell_words(program.command), program.pid);
}

std::string section_of(const result::ProgramRegions& program) {
  std::string html;
  if (program.regions.empty()) {
    html += element("p", program.reason.empty() ? "No region was entered." : program.reason, "verdict bad");
  }
  for (const RegionResult& region : program.regions) {
    html += element("h3", region.name) + element("p", entries_text(region), "soft") + events_table(region) +
            metrics_table(region.all) + threads_table(region);
  }
  return html + histogram_charts(program);
}

}  // namespace tally::output
