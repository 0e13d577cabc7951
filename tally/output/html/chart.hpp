// A chart as plain data, which page.js draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tally::report {

/// One axis.
struct Scale {
  std::string label{};
  std::string unit{};  ///< "bytes" is shown as 48 K; other units follow the number
  bool logarithmic = false;
  std::optional<double> least{};  ///< beginning of the axis; by default from the data
  std::optional<double> most{};
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{}, high{};  ///< an interval, drawn as a bar
  bool hollow = false;                  ///< unreliable
  std::string note{};                   ///< shown with the value
};

struct ChartSeries {
  std::string name;
  int color = 0;  ///< 0 to 5
  bool line = true;
  bool dashed = false;  ///< a control: dashed, not filled
  std::vector<ChartPoint> points{};
};

/// A range of the x axis with one level.
struct Band {
  double from = 0, to = 0, level = 0;
  std::string label;  ///< may have several lines; left out if it does not fit
};

/// A vertical line on the x axis.
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
  bool steps = false;  ///< a histogram: each point is the left edge of a bin
};

/// The chart, with a table of its numbers that opens on a click. Empty if it has no points.
std::string figure(const Chart& chart);

}  // namespace tally::report
