// The page of `tally stat`: the counts with their trust, by run and over time.
#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/metric_text.hpp"
#include "tally/output/kit/rounded_numbers.hpp"
#include "tally/output/result/backend_label.hpp"

namespace tally::output {
namespace {

using result::EventCount;
using result::Stat;

std::string count_text(const EventCount& one) { return one.count.value ? value_text(*one.count.value, one.unit) : "-"; }

std::string remark(const Count& count) {
  std::vector<std::string> words;
  if (!count.model.empty()) words.push_back(count.model);
  if (const auto percent = running_percent(count); percent && *percent < 100) {
    words.push_back(fmt::format("counted {} of the time", percent_text(*percent)));
  }
  if (count.error_percent) words.push_back("± " + percent_text(*count.error_percent));
  if (!count.reason.empty()) words.push_back(count.reason);
  return join(words, "; ");
}

std::string events_table(const Stat& stat) {
  HtmlTable table({"event", "#count", "per", "#lowest", "#highest", "trust", "remark"});
  for (const result::Event& event : stat.events) {
    const auto& summary = event.summary;
    const bool spread = summary && summary->n > 1 && summary->min && summary->max;
    table.add({event.total.name.text(), count_text(event.total), row_metric_text(stat, event.total.name),
               spread ? value_text(*summary->min, event.total.unit) : "",
               spread ? value_text(*summary->max, event.total.unit) : "", std::string(name(event.total.count.trust)),
               remark(event.total.count)});
  }
  return table.html();
}

std::string top_down_table(const Stat& stat) {
  HtmlTable table({"class", "#slots", "#share"});
  for (const TopDownClass& row : top_down(stat.events))
    table.add({indented_name(row, "\u00a0\u00a0"), thousands(row.slots), percent_text(100 * row.share)});
  const std::string html = table.html();
  return html.empty() ? html : element("h3", "Top-down classes") + html;
}

std::string metrics_table(const Stat& stat) {
  HtmlTable table({"metric", "#value", "trust", "formula", "remark"});
  for (const result::Metric& metric : stat.metrics) {
    if (!metric.asked) continue;
    table.add({metric.name, metric_text(metric.ratio.value, metric.unit), std::string(name(metric.ratio.trust)),
               metric.formula, metric.ratio.reason});
  }
  const std::string html = table.html();
  return html.empty() ? html : element("h3", "Metrics") + html;
}

// Shares of the medians make events of any size comparable in one chart.
std::string runs_figure(const Stat& stat) {
  Chart chart{.title = "Runs",
              .caption = "Each run's count as a percentage of the median. Hollow: an incomplete run.",
              .x = {.label = "run"},
              .y = {.label = "% of the median", .unit = "%"}};
  for (std::size_t i = 0; i < stat.events.size(); ++i) {
    const auto& median = stat.events[i].total.count.value;
    if (!median || *median == 0) continue;
    ChartSeries series{.name = stat.events[i].total.name.text(),
                       .color = static_cast<int>(chart.series.size()) % chart_colors};
    for (std::size_t run = 0; run < stat.runs.size(); ++run) {
      const EventCount& one = stat.runs[run].counts.at(i);
      if (!one.count.value) continue;
      series.points.push_back({.x = static_cast<double>(run + 1),
                               .y = 100 * static_cast<double>(*one.count.value) / static_cast<double>(*median),
                               .hollow = !stat.runs[run].complete,
                               .note = count_text(one)});
    }
    chart.series.push_back(std::move(series));
  }
  return figure(chart);
}

// Shows the first run that has intervals: the curves of several runs would hide each other.
std::string intervals_figure(const Stat& stat) {
  const auto run =
      std::find_if(stat.runs.begin(), stat.runs.end(), [](const auto& one) { return !one.intervals.empty(); });
  if (run == stat.runs.end()) return {};
  Chart chart{.title = "Over time",
              .caption = "Counts per interval, drawn at the end of the interval.",
              .x = {.label = "seconds", .unit = "s"},
              .y = {.label = "count per interval", .unit = {}, .logarithmic = true}};
  if (stat.runs.size() > 1) chart.caption += fmt::format(" Run {}.", run->intervals.front().run);
  for (const result::Interval& interval : run->intervals) {
    for (const EventCount& event_count : interval.counts) {
      if (!event_count.count.value || *event_count.count.value <= 0) continue;
      auto series = chart.series.begin();
      while (series != chart.series.end() && series->name != event_count.name.text()) ++series;
      if (series == chart.series.end()) {
        chart.series.push_back(
            {.name = event_count.name.text(), .color = static_cast<int>(chart.series.size()) % chart_colors});
        series = chart.series.end() - 1;
      }
      series->points.push_back({.x = static_cast<double>(interval.end.count()) / 1e9,
                                .y = static_cast<double>(*event_count.count.value),
                                .note = std::string(tally::name(event_count.count.trust))});
    }
  }
  return figure(chart);
}

void add_counts(std::vector<std::string>& cells, const std::vector<EventCount>& counts) {
  for (const EventCount& count : counts) cells.push_back(count_text(count));
}

std::string processes_table(const Stat& stat) {
  std::vector<std::string> headings{"run", "process", "thread", "name"};
  for (const result::Event& event : stat.events) headings.push_back("#" + event.total.name.text());
  HtmlTable table(headings);
  for (std::size_t run = 0; run < stat.runs.size(); ++run) {
    const std::string number = stat.runs.size() > 1 ? std::to_string(run + 1) : "";
    for (const result::Process& process : stat.runs[run].processes) {
      if (!process.counts.empty()) {
        std::vector<std::string> cells{number, std::to_string(process.pid), "", process.command};
        add_counts(cells, process.counts);
        table.add(std::move(cells));
      }
      for (const result::Thread& thread : process.threads) {
        std::vector<std::string> cells{number, std::to_string(process.pid), std::to_string(thread.tid), thread.name};
        add_counts(cells, thread.counts);
        table.add(std::move(cells));
      }
    }
  }
  return table.empty() ? std::string() : element("h3", "Processes and threads") + table.html();
}

std::string parts_table(const Stat& stat) {
  std::vector<std::string> headings{"part", "processors"};
  for (const result::Event& event : stat.events) headings.push_back("#" + event.total.name.text());
  HtmlTable table(headings);
  for (const result::Run& run : stat.runs) {
    for (const result::Part& part : run.parts) {
      std::vector<std::string> cells{part.name, part.cpus};
      add_counts(cells, part.counts);
      table.add(std::move(cells));
    }
  }
  return table.empty() ? std::string() : element("h3", "Cores and sockets") + table.html();
}

// The comparison with a baseline; empty without one.
std::string baseline_verdict(const Stat& stat) {
  if (!stat.gate) return {};
  std::string items;
  for (const result::BaselineVerdict::Gate& gate : stat.gate->gates)
    items += element(
        "li", fmt::format("{}: {}", gate.state == "failed" && !gate.is_hard ? "warning" : gate.state, gate.text));
  return element("p", stat.gate->text, stat.gate->state == "passed" ? "verdict" : "verdict bad") +
         (items.empty() ? "" : "<ul>\n" + items + "</ul>\n");
}

}  // namespace

std::string title_of(const Stat& stat) {
  return stat.command.empty() ? "Counts" + (stat.target.empty() ? "" : " of " + stat.target)
                              : shell_words(stat.command);
}

std::string section_of(const Stat& stat) {
  std::string how = fmt::format("counted by {}", result::label_of(stat.backend).counters);
  if (stat.runs.size() > 1) how += fmt::format(" · {} runs, medians", stat.runs.size());
  if (stat.exit_code && *stat.exit_code != 0) how += fmt::format(" · exit code {}", *stat.exit_code);
  std::string html = baseline_verdict(stat) + element("p", how);
  if (stat.incomplete) html += element("p", "This result is incomplete.", "verdict bad");
  for (const std::string& notice : stat.notices) html += element("p", notice, "soft");
  if (stat.roofline) html += section_of(*stat.roofline);
  html += events_table(stat) + top_down_table(stat) + metrics_table(stat);
  if (stat.runs.size() > 1) html += runs_figure(stat);
  html += intervals_figure(stat) + parts_table(stat) + processes_table(stat);
  for (const result::Run& run : stat.runs) {
    for (const result::ProgramRegions& program : run.regions) {
      html += element("h3", fmt::format("Regions of process {} ({})", program.pid, shell_words(program.command))) +
              section_of(program);
    }
  }
  return html + element("p", environment_line(stat.environment), "soft");
}

}  // namespace tally::output
