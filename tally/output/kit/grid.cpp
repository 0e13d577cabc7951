#include "tally/output/kit/grid.hpp"

#include <algorithm>
#include <set>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

// The least width of columns in lines that are too wide.
constexpr std::size_t narrowest_name = 16, narrowest_text = 12;
constexpr std::size_t gap = 2;  // between two columns

// The byte offset after `count` characters.
std::size_t byte_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    --count;
  }
  return at;
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string padding(width - std::min(display_width(cell), width), ' ');
  return align == Align::right ? padding + cell : cell + padding;
}

// Wraps a cell into lines of a column; shortens a word that is too long.
std::vector<std::string> lines_of(const std::string& cell, std::size_t width) {
  std::vector<std::string> lines = wrapped(cell, width);
  for (std::string& line : lines) line = shortened(line, width);
  return lines;
}

}  // namespace

/// Columns that are printed next to each other, the name first.
struct Grid::Layout {
  std::vector<std::size_t> columns;  // their indexes in columns_
  std::vector<std::size_t> widths;   // of each of these
  std::size_t narrowest_name = 0;    // of the first column
  std::size_t total() const {
    std::size_t sum = 1;
    for (const std::size_t width : widths) sum += width + gap;
    return sum - gap;
  }
};

std::size_t prose_width(std::size_t usual, std::size_t terminal) {
  constexpr std::size_t least = 40;
  return terminal == 0 ? usual : std::min(usual, std::max(terminal, least));
}

std::string prose_line(const std::string& text, std::size_t terminal) {
  return terminal == 0 || display_width(text) < terminal ? " " + text + "\n" : hanging(" ", text, terminal);
}

std::string shortened(const std::string& text, std::size_t width) {
  const std::size_t all = display_width(text);
  if (all <= width) return text;
  if (width == 0) return "";
  const std::size_t after = (width - 1) / 2, before = width - 1 - after;
  return text.substr(0, byte_of(text, before)) + "…" + text.substr(byte_of(text, all - after));
}

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
    line += line.empty() ? " " : std::string(gap, ' ');
    line += padded(cells[i], widths[i], columns_[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::vector<std::size_t> Grid::natural_widths() const {
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
    // A column with only a heading is omitted.
    if (width > 0) width = std::max(width, display_width(columns_[i].heading));
    widths.push_back(width);
  }
  return widths;
}

std::string Grid::unlimited() const {
  const std::vector<std::size_t> widths = natural_widths();
  std::vector<std::string> headings;
  for (std::size_t i = 0; i < columns_.size(); ++i) headings.push_back(widths[i] > 0 ? columns_[i].heading : "");
  std::string text;
  const auto is_empty = [](const std::string& heading) { return heading.empty(); };
  if (!std::all_of(headings.begin(), headings.end(), is_empty)) text += line(headings, widths);
  for (const auto& row : rows_) text += line(row, widths);
  return text;
}

std::size_t Grid::width_of_names(std::size_t column, std::size_t most) const {
  std::set<std::string> all;
  for (const auto& row : rows_) all.insert(row[column]);
  std::size_t width = std::min(narrowest_name, most);
  for (; width < most; ++width) {
    std::set<std::string> distinct;
    for (const std::string& one : all) distinct.insert(shortened(one, width));
    if (distinct.size() == all.size()) break;
  }
  return width;
}

std::string Grid::block(const Layout& layout, std::size_t terminal) const {
  Layout fitted = layout;
  // Narrows the widest text first, never numbers. If a number alone is wider than the terminal, so is its line.
  while (fitted.total() > terminal) {
    std::size_t widest = fitted.columns.size(), most = 0;
    for (std::size_t i = 0; i < fitted.columns.size(); ++i) {
      const std::size_t least = i == 0 ? layout.narrowest_name : narrowest_text;
      if (columns_[fitted.columns[i]].align == Align::right || fitted.widths[i] <= least) continue;
      if (fitted.widths[i] > most) widest = i;
      most = std::max(most, fitted.widths[i]);
    }
    if (widest == fitted.columns.size()) break;
    --fitted.widths[widest];
  }
  std::string text;
  const auto add_row = [&](const auto& cell_of) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < fitted.columns.size(); ++i) {
      const Column& column = columns_[fitted.columns[i]];
      const std::string& cell = cell_of(fitted.columns[i]);
      if (column.align == Align::right)
        cells.push_back({cell});
      else if (i == 0)
        cells.push_back({shortened(cell, fitted.widths[i])});
      else
        cells.push_back(lines_of(cell, fitted.widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t row = 0; row < height; ++row) {
      std::string line = " ";
      for (std::size_t i = 0; i < cells.size(); ++i)
        line += (i == 0 ? "" : std::string(gap, ' ')) +
                padded(row < cells[i].size() ? cells[i][row] : "", fitted.widths[i], columns_[fitted.columns[i]].align);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  };
  if (std::any_of(fitted.columns.begin(), fitted.columns.end(),
                  [&](std::size_t column) { return !columns_[column].heading.empty(); }))
    add_row([&](std::size_t column) -> const std::string& { return columns_[column].heading; });
  for (const auto& row : rows_) add_row([&](std::size_t column) -> const std::string& { return row[column]; });
  return text;
}

std::string Grid::text(std::size_t terminal) const {
  std::string whole = unlimited();
  const std::vector<std::string> lines = split(whole, '\n');
  if (terminal == 0 ||
      std::all_of(lines.begin(), lines.end(), [&](const std::string& one) { return display_width(one) <= terminal; }))
    return whole;
  // Includes long cells: a name longer than usual is shortened instead of pushing the other cells.
  std::vector<std::size_t> widths = natural_widths();
  for (std::size_t i = 0; i < widths.size(); ++i)
    for (const auto& row : rows_)
      if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(row[i]));
  const auto named = std::find_if(columns_.begin(), columns_.end(), [](const Column& one) { return one.is_name; });
  std::size_t name = named == columns_.end() ? 0 : static_cast<std::size_t>(named - columns_.begin());
  if (named == columns_.end())
    while (name + 1 < widths.size() && widths[name] == 0) ++name;
  const std::size_t names = width_of_names(name, widths[name]);
  const auto least_of = [&](std::size_t column, std::size_t narrowest) {
    return columns_[column].align == Align::right ? widths[column] : std::min(widths[column], narrowest);
  };
  const Layout only_name{{name}, {widths[name]}, names};
  const std::size_t name_least = 1 + least_of(name, names);
  Layout layout = only_name;
  std::size_t least = name_least;
  std::string text;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    if (column == name || widths[column] == 0) continue;
    const std::size_t own = gap + least_of(column, narrowest_text);
    if (least + own > terminal && layout.columns.size() > 1) {
      text += block(layout, terminal) + "\n";
      layout = only_name;
      least = name_least;
    }
    layout.columns.push_back(column);
    layout.widths.push_back(widths[column]);
    least += own;
  }
  return text + block(layout, terminal);
}

}  // namespace tally::output
