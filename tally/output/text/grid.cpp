#include "tally/output/text/grid.hpp"

#include <algorithm>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::report {

void Grid::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells)
    if (!ForeignText(cell).is_plain()) cell = ForeignText(cell).in_line();
  rows_.push_back(std::move(cells));
}

std::string Grid::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::size_t width = display_width(cells[i]);
    const std::string padding(widths[i] - std::min(width, widths[i]), ' ');
    line += line.empty() ? " " : "  ";
    line += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Grid::text() const {
  std::vector<std::string> headings;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = 0;
    for (const auto& row : rows_) {
      const std::size_t cell = display_width(row[i]);
      if (columns_[i].usual == 0 || cell <= columns_[i].usual)
        width = std::max(width, cell);
      else
        width = std::max<std::size_t>(width, 1);
    }
    // A heading alone keeps no column.
    if (width > 0) width = std::max(width, display_width(columns_[i].heading));
    widths.push_back(width);
    headings.push_back(width > 0 ? columns_[i].heading : "");
  }
  std::string text;
  const auto is_empty = [](const std::string& heading) { return heading.empty(); };
  if (!std::all_of(headings.begin(), headings.end(), is_empty)) text += line(headings, widths);
  for (const auto& row : rows_) text += line(row, widths);
  return text;
}

}  // namespace tally::report
