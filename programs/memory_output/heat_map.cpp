#include "programs/memory_output/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tally/output/kit/element.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::output {
namespace {

constexpr int cell_width = 58;
constexpr int cell_height = 30;
constexpr int left = 90;
constexpr int top = 10;

// From pale to dark; also readable in greyscale.
std::string fill(double share) { return fmt::format("hsl(212 62% {:.0f}%)", 92 - 62 * share); }

// Beyond the middle of the scale white letters are easier to read than black ones.
const char* letters(double share) { return share > 0.5 ? "#ffffff" : "#14202e"; }

std::string label(double value, bool is_size) { return is_size ? size_text(value) : rounded(value, 0); }

std::string cell_text(double value) { return rounded(value, value < 10 ? 2 : value < 100 ? 1 : 0); }

}  // namespace

std::string heat_map(const HeatMap& map) {
  std::set<double> columns;
  std::set<double> rows;
  double least = INFINITY;
  double most = 0;
  for (const auto& [place, value] : map.cells) {
    columns.insert(place.first);
    rows.insert(place.second);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (columns.size() < 2 || rows.size() < 2) return {};
  const double range = most > least && least > 0 ? std::log(most / least) : 1;
  const std::string axes = fmt::format("{} → · {} ↑ · {}", map.x_label, map.y_label, map.unit);
  // The text below the map may be wider than a few columns; its letters are about 7 wide.
  const int text_width = 7 * static_cast<int>(axes.size()) + 16;
  const int width = std::max(text_width, left + cell_width * static_cast<int>(columns.size()) + 10);
  const int height = top + cell_height * static_cast<int>(rows.size()) + 48;
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n", width, height);
  const auto text = [&](int x, int y, const char* anchor, const std::string& words, const std::string& style) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, style, escaped(words));
  };
  int y = top;
  // The largest value is at the top, as in a plot.
  for (auto row = rows.rbegin(); row != rows.rend(); ++row, y += cell_height) {
    text(left - 8, y + 19, "end", label(*row, map.y_is_size), " class=\"axis\"");
    int x = left;
    for (const double column : columns) {
      const auto cell = map.cells.find({column, *row});
      if (cell != map.cells.end()) {
        const double share = least > 0 ? std::log(cell->second / least) / range : 0;
        svg +=
            fmt::format("<g><title>{}: {} {}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                        escaped(fmt::format("{} × {}", label(column, map.x_is_size), label(*row, map.y_is_size))),
                        cell_text(cell->second), escaped(map.unit), x, y, cell_width - 2, cell_height - 2, fill(share));
        text(x + cell_width / 2 - 1, y + 19, "middle", cell_text(cell->second),
             fmt::format(" style=\"fill:{}\"", letters(share)));
        svg += "</g>\n";
      }
      x += cell_width;
    }
  }
  int x = left + cell_width / 2;
  for (const double column : columns) {
    text(x, y + 16, "middle", label(column, map.x_is_size), " class=\"axis\"");
    x += cell_width;
  }
  const int middle = std::max(left + cell_width * static_cast<int>(columns.size()) / 2, text_width / 2);
  text(middle, y + 38, "middle", axes, " class=\"axis\"");
  svg += "</svg>\n";
  return element("h3", map.title) + "<figure data-map>\n<div class=\"scroll\">" + svg + "</div>\n" +
         element("figcaption", map.caption) + "</figure>\n";
}

}  // namespace tally::output
