#include "tally/output/kit/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

// The least width of columns in lines that are too wide.
constexpr std::size_t narrowest_name = 16, narrowest_text = 12, narrowest_key = 24, narrowest_prose = 24;
constexpr std::size_t widest_for_difference = 28;  // of names: more would leave out numbers
constexpr std::size_t gap = 2;                     // between two columns

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

/// The offset of the last part of a qualified name, "::insert(int)" of "std::map<a::b, int>::insert(int)"; npos: none.
std::size_t last_part(std::string_view name) {
  std::size_t last = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '(' && depth == 0 && last != std::string_view::npos) break;
    depth += name[i] == '<' || name[i] == '(' ? 1 : name[i] == '>' || name[i] == ')' ? -1 : 0;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') last = i++;
  }
  return last;
}

/// `text` with "…" instead of what is before its last `after` characters, in `width` columns.
std::string keeping_end(const std::string& text, std::size_t width, std::size_t after) {
  return text.substr(0, byte_of(text, width - 1 - after)) + "…" +
         text.substr(byte_of(text, display_width(text) - after));
}

constexpr std::size_t most_cut_apart = 200;  // names, because each is cut at each place

/// Names in at most `width` columns, cut where they differ: "L1-dcache-load-m…". Empty if no cut keeps them distinct,
/// for qualified names, whose last part is kept, and for very many.
std::vector<std::string> cut_apart(const std::vector<std::string>& names, std::size_t width) {
  if (names.size() > most_cut_apart || last_part(names.front()) != std::string::npos) return {};
  for (std::size_t after = 0; after < width; ++after) {
    std::vector<std::string> cut;
    for (const std::string& name : names)
      cut.push_back(display_width(name) <= width ? name : keeping_end(name, width, after));
    if (std::set(cut.begin(), cut.end()).size() == names.size()) return cut;
  }
  return {};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// hanging() that keeps "1.27 %" in one line.
std::string hanging_prose(const std::string& start, const std::string& text, std::size_t terminal) {
  constexpr std::string_view breakable = " %", unbreakable = "\u00a0%";
  return replaced(hanging(start, replaced(text, breakable, unbreakable), terminal), unbreakable, breakable);
}

/// How to see columns that are left out. A table of very long names fits no terminal.
std::string how_to_see(std::size_t widest) {
  constexpr std::size_t usual_terminals = 250;
  return widest > usual_terminals ? "; a file shows them"
                                  : fmt::format("; a terminal of {} columns or a file shows them", widest);
}

}  // namespace

/// Columns that are printed next to each other, the name first.
struct Grid::Layout {
  std::vector<std::size_t> columns;  // their indexes in columns_
  std::vector<std::size_t> widths;   // of each of these
  std::vector<std::size_t> least;    // to which each can be narrowed
  static std::size_t total(const std::vector<std::size_t>& widths) {
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
  return terminal == 0 || display_width(text) < terminal ? " " + text + "\n" : hanging_prose(" ", text, terminal);
}

std::string wrapped_lines(const std::string& text, std::size_t terminal) {
  if (terminal == 0) return text;
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) {
    if (display_width(line) <= terminal) continue;
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    line = hanging_prose(line.substr(0, indent), line.substr(indent), terminal);
    line.pop_back();
  }
  return join(lines, "\n");
}

std::string left_out_line(std::vector<std::string> headings, std::size_t widest, std::size_t terminal) {
  std::erase(headings, "");
  if (headings.empty()) return {};
  return hanging(" ", fmt::format("left out: {}", join(headings, ", ")) + how_to_see(widest), terminal);
}

std::string shortened(const std::string& text, std::size_t width) {
  const std::size_t all = display_width(text);
  if (all <= width) return text;
  if (width == 0) return "";
  const std::size_t after = (width - 1) / 2, before = width - 1 - after;
  return text.substr(0, byte_of(text, before)) + "…" + text.substr(byte_of(text, all - after));
}

std::string shortened_cell(const std::string& text, std::size_t width) {
  constexpr std::size_t least_begin = 1;
  if (display_width(text) <= width) return text;
  // "48 K (measured 49.9 K)", "36.0 ns [34.0, 39.0]"
  if (const std::size_t added = std::min(text.find(" ("), text.find(" ["));
      added < width && text.find_first_of("0123456789") == (text.find_first_of("-+<~") == 0 ? 1U : 0U))
    return text.substr(0, added) + "…";
  const auto keeps = [&](std::size_t from) { return display_width(std::string_view(text).substr(from)); };
  std::size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  if (digits > 0 && digits < text.size() && text[digits - 1] == ':') {
    // Some of the file's name before the line, as well.
    const std::size_t line = keeps(digits - 1), end = std::max(line, (width - 1) / 2);
    if (line + 1 < width) return keeping_end(text, width, end);
  }
  if (const std::size_t own = last_part(text); own != std::string::npos) {
    if (const std::size_t end = keeps(own); end + 1 + least_begin <= width) return keeping_end(text, width, end);
  } else if (const std::size_t space = text.find_last_of(' ', byte_of(text, width - 1));
             space != std::string::npos && 3 * space >= width && text.find('<') == std::string::npos) {
    return text.substr(0, text.find_last_not_of(' ', space) + 1) + "…";
  }
  return shortened(text, width);
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
  std::set<std::string> all, distinct;
  for (const auto& row : rows_) all.insert(row[column]);
  const std::vector<std::string> names(all.begin(), all.end());
  std::size_t width = std::min(narrowest_name, most);
  for (; width < most; ++width) {
    distinct.clear();
    for (const std::string& one : all) distinct.insert(shortened_cell(one, width));
    if (distinct.size() == all.size() || !cut_apart(names, width).empty()) break;
  }
  return width;
}

std::vector<std::string> Grid::shortened_cells(std::size_t column, std::size_t width, bool are_names) const {
  std::vector<std::string> cells;
  std::map<std::string, std::vector<std::string>> names, cuts;  // by their shortened form, in order
  for (const auto& row : rows_) {
    cells.push_back(shortened_cell(row[column], width));
    std::vector<std::string>& same = names[cells.back()];
    if (std::find(same.begin(), same.end(), row[column]) == same.end()) same.push_back(row[column]);
  }
  for (std::size_t i = 0; are_names && i < cells.size(); ++i) {
    const std::string& name = rows_[i][column];
    const std::vector<std::string>& same = names[cells[i]];
    if (same.size() == 1) continue;
    const auto number = std::find(same.begin(), same.end(), name) - same.begin();
    const auto [cut, is_new] = cuts.try_emplace(cells[i]);
    if (is_new) cut->second = cut_apart(same, width);
    if (!cut->second.empty()) {
      cells[i] = cut->second[static_cast<std::size_t>(number)];
      continue;
    }
    const std::string suffix = "#" + std::to_string(number + 1);
    if (suffix.size() < width) cells[i] = shortened_cell(name, width - suffix.size()) + suffix;
  }
  return cells;
}

std::string Grid::fitted(Layout layout, std::size_t terminal) const {
  // Narrows the widest text first, never numbers. If a number alone is wider than the terminal, so is its line.
  while (Layout::total(layout.widths) > terminal) {
    std::size_t widest = layout.columns.size(), most = 0;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      if (layout.widths[i] <= layout.least[i]) continue;
      if (layout.widths[i] > most) widest = i;
      most = std::max(most, layout.widths[i]);
    }
    if (widest == layout.columns.size()) break;
    --layout.widths[widest];
  }
  std::vector<std::vector<std::vector<std::string>>> cells;  // by column and row: the lines of each
  bool has_headings = false;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const Column& column = columns_[layout.columns[i]];
    auto& of_column = cells.emplace_back();
    of_column.push_back({column.align == Align::right ? column.heading : shortened(column.heading, layout.widths[i])});
    has_headings = has_headings || !column.heading.empty();
    const std::vector<std::string> one_line = shortened_cells(layout.columns[i], layout.widths[i], i == 0);
    for (std::size_t row = 0; row < rows_.size(); ++row)
      of_column.push_back(column.is_prose ? lines_of(rows_[row][layout.columns[i]], layout.widths[i])
                                          : std::vector<std::string>{one_line[row]});
  }
  std::string text;
  for (std::size_t row = has_headings ? 0 : 1; row <= rows_.size(); ++row) {
    std::size_t height = 1;
    for (const auto& of_column : cells) height = std::max(height, of_column[row].size());
    for (std::size_t nth = 0; nth < height; ++nth) {
      std::string line = " ";
      for (std::size_t i = 0; i < cells.size(); ++i)
        line += (i == 0 ? "" : std::string(gap, ' ')) + padded(nth < cells[i][row].size() ? cells[i][row][nth] : "",
                                                               layout.widths[i], columns_[layout.columns[i]].align);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

std::string Grid::text(std::size_t terminal) const {
  std::string whole = unlimited();
  std::size_t widest = 0;
  for (const std::string& line : split(whole, '\n')) widest = std::max(widest, display_width(line));
  if (terminal == 0 || widest <= terminal) return whole;
  // Includes long cells: a name longer than usual is shortened instead of pushing the other cells.
  std::vector<std::size_t> widths = natural_widths();
  for (std::size_t i = 0; i < widths.size(); ++i)
    for (const auto& row : rows_)
      if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(row[i]));
  const auto named = std::find_if(columns_.begin(), columns_.end(), [](const Column& one) { return one.is_name; });
  std::size_t name = named == columns_.end() ? 0 : static_cast<std::size_t>(named - columns_.begin());
  if (named == columns_.end())
    while (name + 1 < widths.size() && widths[name] == 0) ++name;
  const auto longest_word = [&](std::size_t column) {
    std::size_t longest = 0;
    for (const auto& row : rows_)
      for (const std::string& word : split(row[column], ' ')) longest = std::max(longest, display_width(word));
    return longest;
  };
  Layout layout;
  const auto add = [&](std::size_t column, std::size_t narrowest) {
    layout.columns.push_back(column);
    layout.widths.push_back(widths[column]);
    layout.least.push_back(columns_[column].align == Align::right ? widths[column]
                                                                  : std::min(widths[column], narrowest));
  };
  add(name, width_of_names(name, std::min(widths[name], widest_for_difference)));
  for (std::size_t column = 0; column < columns_.size(); ++column)
    if (column != name && widths[column] > 0)
      add(column, columns_[column].is_whole   ? longest_word(column)
                  : columns_[column].is_prose ? narrowest_prose
                  : columns_[column].is_key   ? narrowest_key
                                              : narrowest_text);
  // Leaves out columns from the right, and the name's distinctness before its first number.
  std::vector<std::string> left_out;
  while (Layout::total(layout.least) > terminal && layout.columns.size() > 2) {
    std::size_t last = layout.columns.size() - 1;
    while (last > 1 && columns_[layout.columns[last]].is_key) --last;
    if (columns_[layout.columns[last]].is_key) last = layout.columns.size() - 1;
    left_out.insert(left_out.begin(), columns_[layout.columns[last]].heading);
    for (std::vector<std::size_t>* const list : {&layout.columns, &layout.widths, &layout.least})
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(last));
  }
  layout.least.front() = std::min(layout.least.front(), narrowest_name);
  return fitted(std::move(layout), terminal) + left_out_line(std::move(left_out), widest, terminal);
}

}  // namespace tally::output
