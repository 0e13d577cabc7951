// The page of `tally sample`: the data that windows.js draws, and tables that need no script.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/phases.hpp"
#include "tally/output/html/assets.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/html/windows_page_data.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/metric_text.hpp"

namespace tally::output {
namespace {

using result::Windows;
using result::WindowSeries;

// Tables on a page are limited to what people read.
constexpr std::size_t most_thread_rows = 40;

std::string count_of(std::size_t number, const char* one, const char* many) {
  const auto value = static_cast<std::int64_t>(number);
  return thousands(value) + (value == 1 ? std::string(" ") + one : std::string(" ") + many);
}

std::string thread_text(const WindowSeries& series) {
  return series.program.empty() ? "the program" : fmt::format("{} ({})", series.program, series.tid);
}

// Lengths in these events are times.
bool is_clock(const EventName& event) { return event.base == "task-clock" || event.base == "cpu-clock"; }
bool is_timed(const Windows& windows) {
  return windows.head.triggers.size() == 1 && is_clock(windows.head.triggers[0].event);
}

std::string length_text(const result::WindowTrigger& trigger) {
  const auto every = static_cast<std::int64_t>(trigger.every);
  if (is_clock(trigger.event)) return duration_text(Nanoseconds(every)) + " of " + trigger.event.text();
  return thousands(every) + " " + trigger.event.text();
}

std::string facts(const Windows& windows, std::size_t rows) {
  std::vector<std::string> triggers;
  for (const result::WindowTrigger& trigger : windows.head.triggers)
    triggers.push_back(trigger.every != 0 ? length_text(trigger)
                       : trigger.frequency != 0
                           ? fmt::format("{} {} times a second", trigger.event.text(), trigger.frequency)
                           : trigger.event.text());
  std::string text = count_of(rows, "window", "windows");
  if (!triggers.empty()) text += ", each ended by " + join(triggers, " or ");
  // HPCTool's own files do not contain them.
  const bool are_threads_known = std::any_of(windows.series.begin(), windows.series.end(),
                                             [](const WindowSeries& series) { return series.tid != 0; });
  text += " · " + (are_threads_known ? count_of(windows.series.size(), "thread", "threads") : "threads unknown");
  std::vector<std::string> sources;
  for (const result::EventCount& event : windows.head.events) {
    const std::string& model = event.count.model;
    if (!model.empty() && std::find(sources.begin(), sources.end(), model) == sources.end()) sources.push_back(model);
  }
  if (!sources.empty()) text += " · model: " + join(sources, ", ");
  return text;
}

std::string warnings(const Windows& windows) {
  std::int64_t lost = 0, partial = 0;
  for (const WindowSeries& series : windows.series) {
    lost = std::accumulate(series.lost.begin(), series.lost.end(), lost);
    partial = std::accumulate(series.partial.begin(), series.partial.end(), partial);
  }
  std::string html;
  if (lost > 0)
    html += element("p",
                    fmt::format("{} were lost: their counts are included in the next row.",
                                count_of(static_cast<std::size_t>(lost), "window", "windows")),
                    "verdict bad");
  if (partial > 0)
    html += element(
        "p",
        fmt::format("{} partial: their processes were not counted completely; the notes of the events have the reason.",
                    partial == 1 ? "1 window is" : thousands(partial) + " windows are"),
        "verdict bad");
  return html;
}

std::string short_number(double value) { return number_text(value); }

// Minimum, median and maximum of complete windows only: the last one of a thread is shorter.
std::string events_table(const Windows& windows) {
  HtmlTable table({"event", "#total", "#minimum", "#median", "#maximum", "trust", "note"});
  for (std::size_t i = 0; i < windows.head.events.size(); ++i) {
    const result::EventCount& event = windows.head.events[i];
    const std::string trust(name(event.count.trust));
    std::string remark = event.count.reason;
    if (!event.count.model.empty()) remark = event.count.model + (remark.empty() ? "" : "; " + remark);
    const auto place = windows.head.places[i];
    if (!place) {
      table.add({event.name.text(), "-", "", "", "", trust, remark});
      continue;
    }
    std::vector<std::int64_t> values;
    std::int64_t sum = 0;
    for (const WindowSeries& series : windows.series) {
      for (std::size_t row = 0; row < series.rows(); ++row) {
        sum += series.counts[*place][row];
        if (series.triggers[row] >= 0) values.push_back(series.counts[*place][row]);
      }
    }
    std::sort(values.begin(), values.end());
    const auto at = [&](std::size_t index) { return values.empty() ? "" : value_text(values[index], event.unit); };
    table.add({event.name.text(), value_text(sum, event.unit), at(0), at(values.size() / 2),
               at(values.empty() ? 0 : values.size() - 1), trust, remark});
  }
  return element("h3", "Counts per window") + element("p", "Minimum, median and maximum of complete windows.", "soft") +
         table.html();
}

std::string threads_table(const Windows& windows) {
  if (windows.series.size() < 2) return {};
  std::vector<std::string> headings{"program", "process", "thread", "#windows"};
  for (std::size_t i = 0; i < windows.head.events.size(); ++i)
    if (windows.head.places[i]) headings.push_back("#" + windows.head.events[i].name.text());
  HtmlTable table(std::move(headings));
  std::vector<std::size_t> order(windows.series.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return windows.series[a].rows() > windows.series[b].rows(); });
  for (std::size_t i = 0; i < std::min(order.size(), most_thread_rows); ++i) {
    const WindowSeries& series = windows.series[order[i]];
    std::vector<std::string> cells{series.program, std::to_string(series.pid), std::to_string(series.tid),
                                   thousands(static_cast<std::int64_t>(series.rows()))};
    for (std::size_t event = 0; event < windows.head.events.size(); ++event)
      if (const auto place = windows.head.places[event])
        cells.push_back(
            value_text(std::accumulate(series.counts[*place].begin(), series.counts[*place].end(), std::int64_t{0}),
                       windows.head.events[event].unit));
    table.add(std::move(cells));
  }
  std::string html = element("h3", "Threads") + table.html();
  if (order.size() > most_thread_rows)
    html += element(
        "p", fmt::format("Shows the {} threads with the most windows of {}.", most_thread_rows, order.size()), "soft");
  return html;
}

std::string value_of(const BoundMetric& metric, const Phase& phase) {
  std::vector<Count> counts;
  for (const std::size_t place : metric.events) counts.push_back(exact(phase.counts[place], Source::none));
  std::string unit;
  for (const MetricDefinition& definition : metric_table())
    if (definition.name == metric.name) unit = definition.unit;
  return metric_text(metric.formula.evaluate(counts).value, unit == "share" ? unit : "");
}

// A metric per instruction repeats what the counts show.
bool adds_information(const BoundMetric& metric) {
  const auto& names = metric.formula.names();
  return names.size() == 2 && !names[1].starts_with("instructions") && metric.name != "CPI";
}

// Function and line; empty if unknown.
std::string location_text(const Windows& windows, const WindowSeries& series, std::size_t row) {
  if (series.functions.empty()) return {};
  const std::string& line = windows.words[series.lines[row]];
  return windows.words[series.functions[row]] + (line.empty() ? "" : ", " + line);
}

std::string phase_row(const Windows& windows, const Phases& phases, std::size_t place, std::size_t all,
                      const std::vector<BoundMetric>& metrics) {
  const Phase& phase = phases.phases[place];
  std::string html =
      fmt::format("<tr><td><span class=\"swatch\" style=\"background:var(--p{})\"></span>{}</td>", place, place + 1);
  const auto cell = [&](const std::string& text) {
    html += fmt::format("<td class=\"number\">{}</td>", escaped(text));
  };
  cell(thousands(static_cast<std::int64_t>(phase.windows)));
  cell(percent_text(100 * static_cast<double>(phase.windows) / static_cast<double>(all)));
  const WindowSeries& series = windows.series[phase.series];
  const std::int64_t address = series.addresses[phase.row];
  html += fmt::format("<td><button type=\"button\" data-show=\"{},{}\">window {}</button> of {}</td><td>{} {}</td>",
                      phase.series, phase.row, series.numbers[phase.row], escaped(thread_text(series)),
                      address == 0 ? "" : fmt::format("<code>{:#x}</code>", static_cast<std::uint64_t>(address)),
                      escaped(location_text(windows, series, phase.row)));
  // Counts per millisecond, or per 1,000 events of the trigger.
  const double unit_length = is_timed(windows) ? 1e6 : 1000;
  for (std::size_t i = 0; i < windows.head.events.size(); ++i) {
    const auto event = windows.head.places[i];
    if (event && std::find(phases.events.begin(), phases.events.end(), windows.head.events[i].name.text()) !=
                     phases.events.end())
      cell(short_number(unit_length * static_cast<double>(phase.counts[*event]) / static_cast<double>(phase.length)));
  }
  for (const BoundMetric& metric : metrics) cell(value_of(metric, phase));
  return html + "</tr>\n";
}

std::string phases_part(const Windows& windows, const Phases& phases) {
  if (phases.phases.empty())
    return element("h3", "Phases") + element("p", "No phases: all windows have the same counts.");
  std::vector<BoundMetric> metrics = metrics_of(windows);
  std::erase_if(metrics, [](const BoundMetric& metric) { return !adds_information(metric); });
  std::size_t all = 0;
  for (const Phase& phase : phases.phases) all += phase.windows;
  std::string head =
      "<tr><th>phase</th><th class=\"number\">windows</th><th class=\"number\">share</th>"
      "<th>representative</th><th>address</th>";
  for (const auto& event : windows.head.events)
    if (std::find(phases.events.begin(), phases.events.end(), event.name.text()) != phases.events.end())
      head += fmt::format("<th class=\"number\">{}</th>", escaped(event.name.text()));
  for (const BoundMetric& metric : metrics) head += fmt::format("<th class=\"number\">{}</th>", escaped(metric.name));
  std::string rows;
  for (std::size_t i = 0; i < phases.phases.size(); ++i) rows += phase_row(windows, phases, i, all, metrics);
  const std::string per = is_timed(windows)                   ? "ms"
                          : windows.head.triggers.size() == 1 ? "1,000 " + windows.head.triggers[0].event.text()
                                                              : "1,000 units of window length";
  const std::string compared =
      phases.by_code
          ? "A phase groups windows that ran the same code: tally compares each basic block's share of the window's "
            "instructions, projected to 15 dimensions."
          : fmt::format(
                "A phase groups windows with similar counts: tally compares each count divided by the "
                "window's length, normalized ({}); it does not compare basic blocks.",
                join(phases.events, ", "));
  std::string how = fmt::format(
      "{} It groups them by k-means with fixed seeds and chooses the number of groups by the Bayesian information "
      "criterion, as SimPoint does; the same file always has the same phases. Counts are per {}.",
      compared, per);
  if (phases.too_short > 0)
    how += fmt::format(
        " {} shorter than a tenth of the usual length and {} no phase.",
        phases.too_short == 1 ? "1 window is" : thousands(static_cast<std::int64_t>(phases.too_short)) + " windows are",
        phases.too_short == 1 ? "has" : "have");
  return element("h3", "Phases") + "<div class=\"scroll\"><table class=\"phases\"><thead>" + head +
         "</tr></thead><tbody>\n" + rows + "</tbody></table></div>\n" + element("p", how, "soft");
}

}  // namespace

std::string title_of(const result::Windows& windows) {
  return windows.head.command.empty() ? "Windows" : "Windows of " + shell_words(windows.head.command);
}

SectionAssets assets_of(const result::Windows&) {
  return {std::string(timeline_style()).append(windows_style()),
          fmt::format("{}</script>\n<script>\n{}\n{}\n{}", timeline_library(), windows_data_script(),
                      windows_parts_script(), windows_script())};
}

std::string section_of(const result::Windows& all) {
  const std::size_t rows = all.rows();
  const FittingWindows fits = fitting(all, {});
  const Windows& windows = fits.windows;
  std::string html = element("p", facts(all, rows));
  for (const auto* notices : {&all.notices, &fits.notices})
    for (const std::string& notice : *notices) html += element("p", notice, "soft");
  if (all.incomplete) html += element("p", "The file is incomplete.", "verdict bad");
  html += warnings(windows);
  if (rows == 0) return html + element("p", "The file has no windows.", "verdict bad");
  const Phases phases = find_phases(windows);
  return "<section data-windows>\n" + html + windows_scripts(fits, phases) +
         "<div data-view class=\"windows\"></div>\n" + phases_part(windows, phases) + events_table(windows) +
         threads_table(windows) + "</section>\n";
}

}  // namespace tally::output
