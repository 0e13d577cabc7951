// The data of a chart. page.js draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tally::output {

/// One axis.
struct Scale {
  std::string label{};
  std::string unit{};  ///< "bytes" prints sizes such as 48 K; any other unit is printed after the number
  bool logarithmic = false;
  std::optional<double> least{};  ///< start of the axis; default: chosen from the data
  std::optional<double> most{};
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{}, high{};  ///< interval, drawn as an error bar
  bool hollow = false;                  ///< unreliable
  std::string note{};                   ///< shown with the value
};

/// Colours of the page's style sheet for series.
constexpr int chart_colors = 6;

struct ChartSeries {
  std::string name;
  int color = 0;  ///< 0 to chart_colors - 1
  bool line = true;
  bool dashed = false;  ///< a control; its line is dashed, and a histogram is not filled
  std::vector<ChartPoint> points{};
};

/// A plateau: a range of the x axis and the y value of its horizontal line.
struct Band {
  double from = 0, to = 0, level = 0;
  std::string label;  ///< may have several lines; a line that is wider than the band is not drawn
};

/// A vertical line at an x value.
struct Mark {
  double at = 0;
  bool dotted = false;
};

struct Chart {
  std::string title;
  std::string caption;
  Scale x, y;
  std::vector<ChartSeries> series{};
  std::vector<Band> bands{};
  std::vector<Mark> marks{};
  bool named = false;  ///< the name of each series is next to its first point, and lines have no points
  bool steps = false;  ///< a histogram: each point is the left edge of a bin
};

/// Returns the HTML of the chart, and of a collapsed table of its values. Returns "" if the chart has no points.
std::string figure(const Chart& chart);

}  // namespace tally::output
