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
  // In terminals that are too narrow:
  bool is_key = false;    ///< is left out after the others
  bool is_prose = false;  ///< sentences, which are wrapped; other texts are shortened
  bool is_whole = false;  ///< prose without shortened words: left out if one is too long
};

/// A column of sentences.
inline Column prose_column(std::string heading) { return {std::move(heading), Align::left, 0, false, false, true}; }
/// A column of formulas, which are wrapped and never shortened.
inline Column formula_column(std::string heading) {
  return {std::move(heading), Align::left, 0, false, false, true, true};
}
/// A column that is left out after the others.
inline Column key_column(std::string heading, Align align = Align::left) {
  return {std::move(heading), align, 0, false, true};
}

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
  /// the front, names and texts are shortened, and columns are left out from the right, with a line below that names
  /// them. Names stay distinct, if need be by a number at their end: "std::…::insert#2".
  std::string text(std::size_t terminal = 0) const;

 private:
  struct Layout;
  std::string unlimited() const;
  /// The least width, at most `most`, at which the shortened names of a column still differ.
  std::size_t width_of_names(std::size_t column, std::size_t most) const;
  /// The cells of a column in at most `width` columns; those of names differ as before.
  std::vector<std::string> shortened_cells(std::size_t column, std::size_t width, bool are_names) const;
  std::string fitted(Layout layout, std::size_t terminal) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;
  std::vector<std::size_t> natural_widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The width of prose around tables: `usual`, or the columns of a narrower terminal. `terminal` 0: no terminal.
std::size_t prose_width(std::size_t usual, std::size_t terminal);

/// A line of prose, indented by one space; wrapped if the terminal is too narrow for it.
std::string prose_line(const std::string& text, std::size_t terminal);

/// `text` with its lines that are wider than the terminal wrapped between words: the prose around tables.
std::string wrapped_lines(const std::string& text, std::size_t terminal);

/// A line that names columns which are left out of a table of `widest` columns; empty if there are none.
std::string left_out_line(std::vector<std::string> headings, std::size_t widest, std::size_t terminal);

/// `text` in at most `width` columns, with "…" instead of its middle if it is longer.
std::string shortened(const std::string& text, std::size_t width);

/// The same for a cell, in which no number is broken: the last part of a qualified name ("std::_Hash…::insert") and a
/// line ("basic_st….h:3142") are kept, and sentences are cut between words.
std::string shortened_cell(const std::string& text, std::size_t width);

}  // namespace tally::output
