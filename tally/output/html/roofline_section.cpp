// The roofline of a program: a chart with the ceilings, the rows of its points, and the ceilings' own rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/roofline.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/memory_texts.hpp"

namespace tally::output {
namespace {

using result::Ceiling;
using result::Roofline;
using result::RooflinePoint;

constexpr double giga = 1e9;
constexpr std::size_t most_points = 6;  // in the chart, whose legend has room for twelve names

struct Range {
  double from = 0, to = 0;
};

// The intensities of the chart: those of all points, and the one from which memory no longer limits the peak.
Range intensities(const Roofline& roofline, double top) {
  const int processors = processors_of(roofline);
  Range range{.from = 1.0 / 16, .to = 16};
  for (const Ceiling& highest : roofline.ceilings.bandwidths)
    if (const double rate = ceiling(roofline.ceilings.bandwidths, highest.of, 0, processors); rate > 0)
      range.to = std::max(range.to, 4 * top / rate);
  for (const RooflinePoint& point : roofline.points) {
    const auto verdict = judge(roofline, point);
    if (!verdict || !verdict->intensity || *verdict->intensity <= 0) continue;
    range.from = std::min(range.from, *verdict->intensity / 2);
    range.to = std::max(range.to, *verdict->intensity * 2);
  }
  return range;
}

ChartSeries roof(const std::string& name, int color, const std::vector<ChartPoint>& points, bool dashed) {
  return {.name = name, .color = color, .dashed = dashed, .points = points};
}

}  // namespace

std::string section_of(const Roofline& roofline) {
  const int processors = processors_of(roofline);
  std::string html;
  for (const RooflinePoint& point : roofline.points) html += element("p", verdict_text(roofline, point));
  // Lines for one precision, because the legend has room for twelve names.
  std::string precision = roofline.points.empty() ? "double" : main_precision(roofline.points.front());
  const auto is_measured = [&](const Ceiling& highest) { return highest.of == precision; };
  if (std::none_of(roofline.ceilings.peaks.begin(), roofline.ceilings.peaks.end(), is_measured)) precision = "double";
  Chart chart{.title = "Roofline",
              .caption =
                  "Floating-point operations per second against operations per byte that instructions load and "
                  "store. Lines: the most that each level of the memory, and scalar and the widest "
                  "instructions in the precision of most operations, allow. Points: the program and its functions.",
              .x = {.label = "FLOP per byte", .unit = "FLOP/byte", .logarithmic = true},
              .y = {.label = "GFLOP/s", .unit = "GFLOP/s", .logarithmic = true},
              .named = true};
  double top = 0;
  for (const Ceiling& highest : roofline.ceilings.peaks)
    if (highest.of == precision)
      top = std::max(top, ceiling(roofline.ceilings.peaks, precision, highest.bits, processors));
  const Range range = intensities(roofline, top);
  int color = 0;
  for (const RooflinePoint& point : roofline.points) {
    const auto verdict = judge(roofline, point);
    if (!verdict || !verdict->intensity || verdict->operations_per_second <= 0) continue;
    if (chart.series.size() == most_points) break;
    chart.series.push_back({.name = point.kind == "program" ? "program" : point.name,
                            .color = color++ % chart_colors,
                            .line = false,
                            .points = {{.x = *verdict->intensity,
                                        .y = verdict->operations_per_second / giga,
                                        .note = verdict_text(roofline, point)}}});
  }
  std::vector<std::string> drawn;
  const auto is_new = [&](const Ceiling& highest) {
    const std::string name = ceiling_name(highest);
    if (std::find(drawn.begin(), drawn.end(), name) != drawn.end()) return false;
    drawn.push_back(name);
    return true;
  };
  for (const Ceiling& highest : roofline.ceilings.bandwidths) {
    const double rate = ceiling(roofline.ceilings.bandwidths, highest.of, 0, processors);
    if (rate <= 0 || !is_new(highest)) continue;
    chart.series.push_back(roof(ceiling_name(highest), color++ % chart_colors,
                                {{.x = range.from, .y = range.from * rate / giga}, {.x = top / rate, .y = top / giga}},
                                false));
  }
  for (const Ceiling& highest : roofline.ceilings.peaks) {
    const double rate = ceiling(roofline.ceilings.peaks, highest.of, highest.bits, processors);
    if (rate <= 0 || highest.of != precision || (highest.bits != 0 && rate < top) || !is_new(highest)) continue;
    chart.series.push_back(roof("peak, " + ceiling_name(highest), color++ % chart_colors,
                                {{.x = range.to, .y = rate / giga}, {.x = range.from, .y = rate / giga}}, true));
  }
  html += figure(chart);
  MemoryRows rows{roofline_columns(), {}};
  for (const RooflinePoint& point : roofline.points) rows.rows.push_back(roofline_cells(roofline, point));
  html += rows.html() + element("h3", "Ceilings") + ceiling_rows(roofline.ceilings).html();
  for (const std::string& note : roofline_notes(roofline)) html += element("p", note, "soft");
  return html;
}

}  // namespace tally::output
