// The page of `tally memory`: conclusions, then measurements.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "programs/memory_output/heat_map.hpp"
#include "programs/memory_output/memory_format.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/memory_rows.hpp"
#include "tally/output/kit/memory_texts.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::output {
namespace {

using result::Memory;
using result::MemoryLevel;
using result::MemoryPoint;

bool is_curve(const MemoryPoint& point) { return point.task == "curve" && point.ns; }
bool is_scattered(const MemoryPoint& point) { return point.task == "scattered" && point.ns; }

ChartPoint chart_point(const MemoryPoint& point, double x) {
  return {x, *point.ns, point.ns_low, point.ns_high, !point.flags.empty(), join(point.flags, "; ")};
}

// Reads of a single block of 64 bytes, the smallest size that tools have in common.
bool is_cold_read(const MemoryPoint& point) {
  return point.task == "chase-read" && point.quantity == "read" && point.block_bytes == 64 && point.ns;
}

ChartSeries series_of(const Memory& memory, std::string name, int color, bool (*belongs)(const MemoryPoint&)) {
  ChartSeries series{.name = std::move(name), .color = color};
  for (const MemoryPoint& point : memory.points) {
    if (belongs(point)) series.points.push_back(chart_point(point, static_cast<double>(point.region_bytes)));
  }
  return series;
}

ChartSeries curve_series(const Memory& memory, std::string name, int color) {
  return series_of(memory, std::move(name), color, is_curve);
}

Scale size_scale(const char* label) { return {.label = label, .unit = "bytes", .logarithmic = true}; }

Scale time_scale(const char* label) { return {.label = label, .unit = "ns", .logarithmic = true}; }

Chart curve_chart() {
  return {.title = "Latency against size", .caption = {}, .x = size_scale("region"), .y = time_scale("ns per load")};
}

// Plateaus; where a level has no capacity the ends of the curve are used.
void add_levels(const std::vector<MemoryLevel>& levels, Chart& chart) {
  const auto& points = chart.series.front().points;
  double from = points.front().x;
  for (const MemoryLevel& level : levels) {
    if (level.contended || level.unseen) {
      // The next level begins beyond the reported size.
      if (level.reported_bytes) from = std::max(from, static_cast<double>(*level.reported_bytes));
      continue;
    }
    const double to = level.capacity_bytes.value_or(points.back().x);
    std::string label = level.name;
    if (level.capacity_bytes) {
      label += fmt::format("\n{}", size_text(level.snapped ? static_cast<double>(*level.reported_bytes) : to));
    }
    // A capacity may be known without a latency: then draw the plateau as for a level whose end was not seen.
    if (level.ns > 0) {
      chart.bands.push_back({from, to, level.ns, label + fmt::format("\n{} ns", rounded(level.ns, 2))});
    }
    if (level.half_bytes) chart.marks.push_back({*level.half_bytes, false});
    if (level.knee_bytes) chart.marks.push_back({*level.knee_bytes, true});
    from = to;
  }
  if (!levels.empty()) {
    chart.caption =
        "Horizontal lines: plateaus. Dashed: the latency is half-way to the next plateau; dotted: it leaves the "
        "previous plateau. ";
  }
}

std::string curve_figure(const Memory& memory) {
  Chart chart = curve_chart();
  chart.series.push_back(curve_series(memory, "load", 0));
  if (chart.series.front().points.empty()) return {};
  add_levels(memory.levels, chart);
  ChartSeries scattered = series_of(memory, "load, scattered lines", 1, is_scattered);
  if (!scattered.points.empty()) chart.series.push_back(std::move(scattered));
  chart.caption += "Bars: 95 % intervals. Hollow: points disturbed by a busy machine; no conclusion uses them.";
  return figure(chart);
}

// Leaves out instructions and cycles, whose large counts would flatten the misses.
std::string misses_figure(const Memory& memory) {
  Chart chart{.title = "Misses per load, counted by the PMU",
              .caption = {},
              .x = size_scale("region"),
              .y = {.label = "misses per load", .least = 0}};
  for (const auto& count : result::memory_counts) {
    if (!count.name.ends_with("_misses")) continue;
    ChartSeries series{.name = std::string(count.title), .color = static_cast<int>(chart.series.size()) % chart_colors};
    for (const MemoryPoint& point : memory.points) {
      const auto value = memory.count_of(point.counts, count.name);
      if (!value || !is_curve(point)) continue;
      series.points.push_back({.x = static_cast<double>(point.region_bytes),
                               .y = *value,
                               .hollow = !point.flags.empty(),
                               .note = join(point.flags, "; ")});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return chart.series.empty() ? std::string() : figure(chart);
}

template <class Key>
bool varies(const std::vector<const MemoryPoint*>& points, Key key) {
  std::set<decltype(key(*points.front()))> values;
  for (const MemoryPoint* point : points) values.insert(key(*point));
  return values.size() > 1;
}

// Names a series by the parameters that vary.
struct Split {
  bool quantity, block, stride, pages, store, order, threads;

  std::string name(const MemoryPoint& point) const {
    std::vector<std::string> words;
    if (quantity) words.push_back(point.quantity);
    if (block) words.push_back("blocks of " + size_text(static_cast<double>(point.block_bytes)));
    if (stride) words.push_back("stride " + size_text(static_cast<double>(point.stride_bytes)));
    if (pages) words.push_back(point.pages_asked + " pages");
    if (store) words.push_back(point.store);
    if (order) words.push_back(point.order);
    if (threads) words.push_back(plural(point.threads, "thread", "threads"));
    return words.empty() ? point.quantity : join(words, ", ");
  }
};

// The axes for the points of a task: x is the parameter that varies.
struct Axes {
  Scale x, y;
  double (*x_of)(const MemoryPoint&);
  double (*y_of)(const MemoryPoint&);
};

double region_of(const MemoryPoint& point) { return static_cast<double>(point.region_bytes); }
double stride_of(const MemoryPoint& point) { return static_cast<double>(point.stride_bytes); }
double count_of(const MemoryPoint& point) { return static_cast<double>(point.count); }
double rate_of(const MemoryPoint& point) { return *point.mb_per_second; }
double threads_of(const MemoryPoint& point) { return point.threads; }
double ns_of(const MemoryPoint& point) { return *point.ns; }

std::optional<Axes> axes_of(const std::vector<const MemoryPoint*>& points) {
  const auto all = [&](auto has) {
    return std::all_of(points.begin(), points.end(), [&](const MemoryPoint* point) { return has(*point); });
  };
  const bool timed = all([](const MemoryPoint& point) { return point.ns.has_value(); });
  const bool rated = all([](const MemoryPoint& point) { return point.mb_per_second.has_value(); });
  if (timed && rated) {
    return Axes{{.label = "MB/s"}, time_scale("ns per load"), rate_of, ns_of};
  }
  const bool by_region = varies(points, region_of);
  const bool by_stride = varies(points, stride_of);
  if (timed && by_region) return Axes{size_scale("region"), time_scale("ns"), region_of, ns_of};
  if (timed && by_stride) return Axes{size_scale("stride"), time_scale("ns"), stride_of, ns_of};
  if (timed && varies(points, count_of)) return Axes{{.label = "n"}, time_scale("ns"), count_of, ns_of};
  if (!timed && rated && by_stride) return Axes{size_scale("stride"), {.label = "MB/s"}, stride_of, rate_of};
  if (!timed && rated && varies(points, threads_of)) {
    return Axes{{.label = "threads"}, {.label = "MB/s"}, threads_of, rate_of};
  }
  if (!timed && !rated && by_stride) {
    return Axes{size_scale("stride"), {.label = "n", .logarithmic = true}, stride_of, count_of};
  }
  return std::nullopt;
}

std::string points_figure(const Memory& memory) {
  std::vector<const MemoryPoint*> points;
  for (const MemoryPoint& point : memory.points) {
    if (point.task != "curve" && point.task != "scattered") points.push_back(&point);
  }
  // Among points with times, one without a time was disturbed too much.
  const auto timed = [](const MemoryPoint* point) { return point->ns.has_value(); };
  if (std::any_of(points.begin(), points.end(), timed)) std::erase_if(points, std::not_fn(timed));
  if (points.size() < 2) return {};
  const auto axes = axes_of(points);
  if (!axes) return {};
  const bool by_region = axes->x_of == region_of;
  const bool by_stride = axes->x_of == stride_of;
  const Split split{
      varies(points, [](const MemoryPoint& p) { return p.quantity; }),
      varies(points, [](const MemoryPoint& p) { return p.block_bytes; }) && !by_stride,
      varies(points, stride_of) && by_region && !varies(points, [](const MemoryPoint& p) { return p.block_bytes; }),
      varies(points, [](const MemoryPoint& p) { return p.pages_asked; }),
      varies(points, [](const MemoryPoint& p) { return p.store; }),
      varies(points, [](const MemoryPoint& p) { return p.order; }),
      varies(points, threads_of) && axes->x_of != threads_of};
  Chart chart{.title = "Measurements", .caption = "Hollow: disturbed by a busy machine.", .x = axes->x, .y = axes->y};
  for (const MemoryPoint* point : points) {
    const std::string name = split.name(*point);
    auto series =
        std::find_if(chart.series.begin(), chart.series.end(), [&](const auto& other) { return other.name == name; });
    if (series == chart.series.end()) {
      chart.series.push_back({.name = name, .color = static_cast<int>(chart.series.size()) % chart_colors});
      series = chart.series.end() - 1;
    }
    ChartPoint shown{axes->x_of(*point), axes->y_of(*point), {}, {}, !point->flags.empty(), join(point->flags, "; ")};
    if (axes->y_of == ns_of) shown.low = point->ns_low, shown.high = point->ns_high;
    series->points.push_back(std::move(shown));
  }
  return figure(chart);
}

std::string histogram_charts(const Memory& memory) {
  std::vector<std::string> groups;
  for (const auto& histogram : memory.histograms) {
    if (std::find(groups.begin(), groups.end(), histogram.group) == groups.end()) groups.push_back(histogram.group);
  }
  std::string html;
  for (const std::string& group : groups) {
    Chart chart{.title = group,
                .caption = {},
                .x = {.label = {}, .unit = {}, .logarithmic = true},
                .y = {.label = "operations", .unit = {}, .logarithmic = true, .least = 0.5},
                .steps = true};
    for (const auto& histogram : memory.histograms) {
      if (histogram.group != group) continue;
      chart.x.label = chart.x.unit = histogram.unit;
      const int index = static_cast<int>(chart.series.size());
      ChartSeries series{.name = histogram.name, .color = index % chart_colors, .dashed = index > 0};
      for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
        series.points.push_back({.x = histogram.bins[i].low, .y = static_cast<double>(histogram.bins[i].count)});
        const bool gap = i + 1 == histogram.bins.size() || histogram.bins[i + 1].low > histogram.bins[i].high * 1.0001;
        if (gap) series.points.push_back({.x = histogram.bins[i].high, .y = 0});
      }
      chart.series.push_back(std::move(series));
    }
    html += figure(chart);
  }
  return html;
}

std::string map_charts(const Memory& memory) {
  std::string html;
  for (const result::MemoryMap& memory_map : memory.maps) {
    HeatMap map{.title = memory_map.name,
                .caption = {},
                .x_label = memory_map.x_name,
                .y_label = memory_map.y_name,
                .unit = memory_map.unit,
                .cells = {},
                .x_is_size = memory_map.x_is_size,
                .y_is_size = memory_map.y_is_size};
    for (const auto& cell : memory_map.cells) map.cells[{cell.x, cell.y}] = cell.value;
    html += heat_map(map);
  }
  return html;
}

std::string controls_table(const Memory& memory) {
  HtmlTable table({"control", "#"});
  for (const auto& control : memory.controls) table.add({control.name, control.value});
  for (const auto& [key, value] : memory.statistics) table.add({key, rounded(value, 3)});
  return table.html();
}

}  // namespace

PageSection page_section(const Memory& memory) {
  std::string html = element("p", verdict_text(memory), memory.verdict.contended ? "verdict bad" : "verdict");
  html += element("p", advice_text(memory));
  if (!memory.complete) html += element("p", "This result is incomplete.", "verdict bad");
  for (const std::string& notice : memory.notices) html += element("p", notice);
  html += level_rows(memory).html() + curve_figure(memory) + misses_figure(memory) + points_figure(memory) +
          map_charts(memory) + histogram_charts(memory);
  if (!memory.ratios.empty()) html += ratio_rows(memory).html();
  for (const std::string& finding : memory.findings) html += element("p", finding);
  const std::string controls = controls_table(memory);
  if (!controls.empty()) html += element("h3", "Controls and values") + controls;
  std::vector<std::string> settings;
  for (const auto& [key, value] : memory.settings) settings.push_back(key + " " + value);
  html += element("h3", "Environment and settings") + element("p", environment_line(memory.environment), "soft") +
          element("p", join(settings, " · "), "soft");
  html += element("p", counters_text(memory), "soft");
  html += folded("All points", point_rows(memory).html());
  const std::string& cpu = memory.environment.cpu;
  return {cpu.empty() ? "Memory hierarchy" : "Memory hierarchy: " + cpu, std::move(html)};
}

std::string memory_html(const Memory& memory) { return html_page({{"", page_section(memory)}}); }

std::string memory_comparison(const std::vector<NamedMemory>& results) {
  Chart laps = curve_chart();
  Chart cold{
      .title = "Cold reads against size", .caption = {}, .x = size_scale("region"), .y = time_scale("ns per line")};
  laps.caption = cold.caption = "Hollow: points disturbed by a busy machine.";
  for (const NamedMemory& named : results) {
    for (Chart* const chart : {&laps, &cold}) {
      ChartSeries series = series_of(*named.memory, named.name, static_cast<int>(chart->series.size()) % chart_colors,
                                     chart == &laps ? is_curve : is_cold_read);
      if (!series.points.empty()) chart->series.push_back(std::move(series));
    }
  }
  std::string html;
  for (const Chart* const chart : {&laps, &cold}) {
    if (chart->series.size() > 1) html += figure(*chart);
  }
  return html;
}

}  // namespace tally::output
