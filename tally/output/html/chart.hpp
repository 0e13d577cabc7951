// A chart as plain data; page.js draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tally::report {

/// One axis.
struct Scale {
  std::string label{};
  std::string unit{};  ///< "bytes" is shown as 48 K; others follow the number
  bool logarithmic = false;
  std::optional<double> least{};  ///< where the axis begins; by the data where none is named
  std::optional<double> most{};
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{}, high{};  ///< an interval, drawn as a bar
  bool hollow = false;                  ///< not to be relied on
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
  std::string label;  ///< lines of it are left out where there is no room
};

/// A place on the x axis.
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

/// The chart, and its numbers as a table after a click. Empty if it has no points.
std::string figure(const Chart& chart);

}  // namespace tally::report
