// Text in aligned columns that fit the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tally::output {

/// The alignment of a column. Numbers are right-aligned: they are never shortened, and their lines are never broken.
enum class Align { left, right };

/// A column. Cells of more than `usual` characters do not widen it; they push the cells after them. 0: every cell
/// widens it.
struct Column {
  std::string heading;
  Align align = Align::left;
  std::size_t usual = 0;
  bool is_name = false;  ///< identifies the row; if no column does, it is the first one
};

/// Rows of cells. Each column is as wide as its widest cell. Columns that are empty in every row are omitted with their
/// headings, and so is the heading line if it has no text.
class Grid {
 public:
  explicit Grid(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row; missing cells are empty. A cell may contain text from outside tally: it is escaped.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  /// All rows, one line each, indented by one space, without trailing spaces.
  ///
  /// `terminal`: columns of the terminal that shows them; 0: no terminal. If a line would be wider, the name moves to
  /// the front and is shortened in its middle, other texts are wrapped within their columns, and columns that do not
  /// fit are printed in another table below, with the names again.
  std::string text(std::size_t terminal = 0) const;

 private:
  struct Layout;
  std::string unlimited() const;
  /// The least width, at most `most`, at which the shortened names of a column still differ.
  std::size_t width_of_names(std::size_t column, std::size_t most) const;
  std::string block(const Layout& layout, std::size_t terminal) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;
  std::vector<std::size_t> natural_widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The width of prose around tables: `usual`, or the columns of a narrower terminal. `terminal` 0: no terminal.
std::size_t prose_width(std::size_t usual, std::size_t terminal);

/// A line of prose, indented by one space; wrapped if the terminal is too narrow for it.
std::string prose_line(const std::string& text, std::size_t terminal);

/// `text` in at most `width` columns, with "…" instead of its middle if it is longer.
std::string shortened(const std::string& text, std::size_t width);

}  // namespace tally::output
