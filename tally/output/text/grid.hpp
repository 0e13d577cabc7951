// Columns of text that line up, and fit the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tally::report {

/// Where the text of a column stands. Numbers are on the right: they are never shortened, and their lines never broken.
enum class Align { left, right };

/// A column: its heading, and where its text stands. Cells of more than `usual` characters do not widen it; they push
/// the cells behind them. 0: all cells widen it.
struct Column {
  std::string heading;
  Align align = Align::left;
  std::size_t usual = 0;
  bool is_name = false;  ///< says what a row is of; without one the first column does
};

/// Rows of cells, as wide as their widest; a column that is empty in every row is left out, with its heading. The line
/// of headings is left out where none has a text.
class Grid {
 public:
  explicit Grid(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One more row; missing cells are empty. Text from outside may stand in a cell: it is escaped.
  void add(std::vector<std::string> cells);

  /// All rows, one line each, indented by one space, without trailing spaces.
  ///
  /// `terminal`: columns of the terminal that shows them; 0: they are not for one. Where a line would be wider, the
  /// name comes first and is shortened in its middle, other texts continue in further lines of their column, and
  /// columns that do not fit are in a further table below, with the names again.
  std::string text(std::size_t terminal = 0) const;

 private:
  struct Layout;
  std::string unlimited() const;
  /// The least width, `most` at most, at which shortened names of a column are still different.
  std::size_t width_of_names(std::size_t column, std::size_t most) const;
  std::string block(const Layout& layout, std::size_t terminal) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;
  std::vector<std::size_t> natural_widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns of prose beside tables: `usual`, or those of a terminal that has fewer. 0: there is no terminal.
std::size_t prose_width(std::size_t usual, std::size_t terminal);

/// A line of prose, indented by one space; several where a terminal is too narrow for it.
std::string prose_line(const std::string& text, std::size_t terminal);

/// `text` in at most `width` columns: what is too much is left out of its middle, where "…" stands.
std::string shortened(const std::string& text, std::size_t width);

}  // namespace tally::report
