// Columns of text that line up.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tally::report {

/// Where the text of a column stands.
enum class Align { left, right };

/// A column: its heading, and where its text stands. Cells of more than `usual` characters do not widen it; they push
/// the cells behind them. 0: all cells widen it.
struct Column {
  std::string heading;
  Align align = Align::left;
  std::size_t usual = 0;
};

/// Rows of cells, as wide as their widest; a column that is empty in every row is left out, with its heading. The line
/// of headings is left out where none has a text.
class Grid {
 public:
  explicit Grid(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One more row; missing cells are empty. Text from outside may stand in a cell: it is escaped.
  void add(std::vector<std::string> cells);

  /// All rows, one line each, indented by one space, without trailing spaces.
  std::string text() const;

 private:
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tally::report
