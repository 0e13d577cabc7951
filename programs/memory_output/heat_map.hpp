// A map of numbers over two sizes, as SVG: needs no script, and each cell contains its number.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace tally::output {

struct HeatMap {
  std::string title;
  std::string caption;
  std::string x_label, y_label;
  std::string unit;                                   ///< of the values
  std::map<std::pair<double, double>, double> cells;  ///< (x, y), both sizes in bytes or counts
  bool x_is_size = true, y_is_size = true;
};

/// The map; colours are logarithmic. Empty if it has fewer than two columns or rows.
std::string heat_map(const HeatMap& map);

}  // namespace tally::output
