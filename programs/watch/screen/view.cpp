#include "programs/watch/screen/view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "programs/watch/output/watch_format.hpp"
#include "tally/core/base/text.hpp"

namespace tally::screen {
namespace {

using result::WatchKind;
using result::WatchRow;
using result::WatchTable;

bool is_of_machine(const WatchRow& row) { return row.kind != WatchKind::process && row.kind != WatchKind::group; }

bool is_on_page(const WatchRow& row, Page page) {
  switch (page) {
    case Page::processes: return row.kind == WatchKind::process;
    case Page::groups: return row.kind == WatchKind::group;
    default: return is_of_machine(row);
  }
}

// Whether a row of the page has a value in a column.
bool has_values(const WatchTable& table, const Chosen& chosen, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const WatchRow& row) { return is_on_page(row, chosen.page) && row.cells[column].value; });
}

// Returns the rows of the page, filtered and sorted as chosen.
WatchTable arranged(const WatchTable& table, const Chosen& chosen) {
  WatchTable page = table;
  std::erase_if(page.rows, [&](const WatchRow& row) {
    if (!is_on_page(row, chosen.page)) return true;
    return !is_of_machine(row) && !chosen.filter.empty() && row.name.find(chosen.filter) == std::string::npos;
  });
  // Sockets and the system stay below the cores, because they are their sums.
  const auto end = std::find_if(page.rows.begin(), page.rows.end(), [](const WatchRow& row) {
    return row.kind == WatchKind::socket || row.kind == WatchKind::system;
  });
  const bool by_number = chosen.page == Page::machine && chosen.sort == 0;
  if (!by_number && chosen.sort < page.columns.size()) {
    std::stable_sort(page.rows.begin(), end, [&](const WatchRow& a, const WatchRow& b) {
      return a.cells[chosen.sort].value.value_or(-1) > b.cells[chosen.sort].value.value_or(-1);
    });
  }
  return page;
}

void add(std::vector<Line>& lines, const std::string& text, LineStyle style = LineStyle::plain) {
  for (const std::string& line : split(text, '\n')) lines.push_back({line, style});
  if (!lines.empty() && lines.back().text.empty()) lines.pop_back();
}

// Adds a grid: the line of the columns that are left out, which the rows could move out of the screen; its heading; and
// sums in another style.
void add_grid(std::vector<Line>& lines, const std::string& text) {
  const std::size_t left_out = std::min(text.rfind("\n left out: "), text.size() - 1) + 1;
  add(lines, text.substr(left_out), LineStyle::faint);
  const std::size_t first = lines.size();
  add(lines, text.substr(0, left_out));
  for (std::size_t i = first; i < lines.size(); ++i) {
    const bool is_sum = lines[i].text.find(" SKT ") < 8 || lines[i].text.find("SYS") < 8;
    lines[i].style = i == first ? LineStyle::heading : is_sum ? LineStyle::strong : LineStyle::plain;
  }
}

std::vector<std::size_t> shown_columns(const WatchTable& table, const Chosen& chosen, bool memory) {
  std::vector<std::size_t> columns = output::watch_columns(table, chosen.page == Page::machine, memory);
  std::erase_if(columns, [&](std::size_t at) { return chosen.hidden.contains(at); });
  const std::size_t left = memory || columns.empty() ? 0 : std::min(chosen.first_column, columns.size() - 1);
  columns.erase(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(left));
  return columns;
}

void add_rows(std::vector<Line>& lines, const WatchTable& table, const Chosen& chosen, std::size_t width) {
  const WatchTable page = arranged(table, chosen);
  if (page.rows.empty()) {
    add(lines,
        chosen.filter.empty() ? " there are none, or this user cannot see them"
                              : " no name has '" + chosen.filter + "' in it",
        LineStyle::faint);
    return;
  }
  const bool of_machine = chosen.page == Page::machine;
  add_grid(lines, output::watch_grid(page, shown_columns(page, chosen, false), of_machine, false, width));
  if (!of_machine) {
    if (table.rows_left_out > 0) add(lines, fmt::format(" {} more", table.rows_left_out), LineStyle::faint);
    return;
  }
  add(lines, output::watch_totals_text(page));
  const std::string memory = output::watch_grid(page, shown_columns(page, chosen, true), true, true, width);
  if (memory.empty()) return;
  lines.push_back({});
  add_grid(lines, memory);
}

void add_column_list(std::vector<Line>& lines, const WatchTable& table, const Chosen& chosen) {
  add(lines, " columns: up and down, space shows or hides, c goes back", LineStyle::heading);
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    const auto& column = table.columns[at];
    add(lines,
        fmt::format("{}[{}] {:<12} {}", at == chosen.cursor ? ">" : " ", chosen.hidden.contains(at) ? ' ' : 'x',
                    column.name, column.source.empty() ? "no source here" : column.source),
        at == chosen.cursor ? LineStyle::strong : LineStyle::plain);
  }
}

std::vector<Line> body_of(const WatchTable& table, const Around& around, const Chosen& chosen, std::size_t width) {
  std::vector<Line> lines;
  switch (chosen.page) {
    case Page::machine:
    case Page::processes:
    case Page::groups: add_rows(lines, table, chosen, width); break;
    case Page::legend: add(lines, output::watch_legend_text(table, width)); break;
    case Page::why: {
      const std::string why = output::watch_reasons_text(table, width);
      add(lines, why.empty() ? " every cell has a value" : why);
      break;
    }
    case Page::columns: add_column_list(lines, table, chosen); break;
    case Page::header: add(lines, output::watch_header_text(around.header)); break;
  }
  return lines;
}

std::string title_of(const WatchTable& table, const Around& around, const Chosen& chosen) {
  std::string text =
      fmt::format("tally watch  {}  {:.4g} s", around.clock, static_cast<double>(table.interval.count()) / 1e9);
  if (table.own_cost.value) text += fmt::format("  own cost {:.2f} %", *table.own_cost.value);
  if (chosen.paused) text += "  PAUSED";
  if (!around.recording.empty()) text += "  REC " + around.recording;
  if (!around.replaying.empty()) text += "  REPLAY " + around.replaying;
  if (!chosen.filter.empty()) text += "  filter: " + chosen.filter;
  if (chosen.sort != 0 && chosen.sort < table.columns.size() && has_values(table, chosen, chosen.sort))
    text += "  by " + table.columns[chosen.sort].name;
  if (!around.header.facts.empty()) text += "  " + around.header.facts.front().text;
  return text;
}

std::string foot_of(const Chosen& chosen) {
  if (chosen.typing) return "filter: " + chosen.filter + "_  (enter ends, escape clears)";
  if (!chosen.note.empty()) return chosen.note;
  return "q quit  m machine  p processes  g groups  s sort  / filter  c columns  ? legend  w why  h header  space "
         "pause  "
         "r record";
}

void scroll(Chosen& chosen, std::ptrdiff_t by) {
  const auto at = static_cast<std::ptrdiff_t>(chosen.first_line) + by;
  chosen.first_line = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at, 0));
}

void show(Chosen& chosen, Page page) {
  chosen.page = chosen.page == page ? Page::machine : page;
  chosen.first_line = 0;
  chosen.cursor = 0;
}

// Selects the next column that has values in the rows of the page.
void next_sort(const WatchTable& table, Chosen& chosen) {
  const WatchTable page = arranged(table, chosen);
  std::vector<std::size_t> columns = output::watch_columns(page, chosen.page == Page::machine, false);
  if (columns.empty()) return;
  const auto next = std::upper_bound(columns.begin(), columns.end(), chosen.sort);
  chosen.sort = next == columns.end() ? columns.front() : *next;
}

Wish take_typed(const Key& key, Chosen& chosen) {
  switch (key.name) {
    case Key::Name::enter: chosen.typing = false; break;
    case Key::Name::escape:
      chosen.typing = false;
      chosen.filter.clear();
      break;
    case Key::Name::erase:
      if (!chosen.filter.empty()) chosen.filter.pop_back();
      break;
    case Key::Name::text: chosen.filter += key.letter; break;
    default: break;
  }
  return Wish::redraw;
}

Wish take_letter(char letter, const WatchTable& table, Chosen& chosen) {
  switch (letter) {
    case 'q': return Wish::quit;
    case 'm':
      show(chosen, Page::machine);
      chosen.page = Page::machine;
      break;
    case 'p': show(chosen, Page::processes); break;
    case 'g': show(chosen, Page::groups); break;
    case '?': show(chosen, Page::legend); break;
    case 'w': show(chosen, Page::why); break;
    case 'c': show(chosen, Page::columns); break;
    case 'h': show(chosen, Page::header); break;
    case 's': next_sort(table, chosen); break;
    case '/': chosen.typing = true; break;
    case 'r': return Wish::record;
    case 'n': return Wish::forward;
    case 'b': return Wish::back;
    case ' ':
      if (chosen.page != Page::columns) return Wish::pause;
      if (!chosen.hidden.erase(chosen.cursor)) chosen.hidden.insert(chosen.cursor);
      break;
    default: return Wish::nothing;
  }
  return Wish::redraw;
}

}  // namespace

std::string clipped(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::size_t shown = 0, at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && shown++ == width) break;
  }
  return text.substr(0, at);
}

std::vector<Line> lines_of(const WatchTable& table, const Around& around, Chosen& chosen, std::size_t width,
                           std::size_t height) {
  std::vector<Line> lines;
  if (height == 0) return lines;
  lines.push_back({title_of(table, around, chosen), LineStyle::title});
  const std::vector<Line> body = body_of(table, around, chosen, width);
  const std::size_t room = height > 2 ? height - 2 : 0;
  if (chosen.page == Page::columns) {
    // The cursor stays visible, below the heading.
    if (chosen.cursor + 2 > chosen.first_line + room) chosen.first_line = chosen.cursor + 2 - room;
    if (chosen.cursor + 1 < chosen.first_line) chosen.first_line = chosen.cursor + 1;
  }
  chosen.first_line = std::min(chosen.first_line, body.size() > room ? body.size() - room : 0);
  for (std::size_t i = 0; i < room; ++i) {
    lines.push_back(chosen.first_line + i < body.size() ? body[chosen.first_line + i] : Line{});
  }
  if (height > 1) lines.push_back({foot_of(chosen), LineStyle::title});
  for (Line& line : lines) line.text = clipped(line.text, width);
  return lines;
}

Wish take(const Key& key, const WatchTable& table, Chosen& chosen) {
  using Name = Key::Name;
  chosen.note.clear();
  if (key.name == Name::resize) return Wish::redraw;
  if (chosen.typing) return take_typed(key, chosen);
  const bool moves_cursor = chosen.page == Page::columns;
  switch (key.name) {
    case Name::text: return take_letter(key.letter, table, chosen);
    case Name::up:
      if (moves_cursor && chosen.cursor > 0) --chosen.cursor;
      if (!moves_cursor) scroll(chosen, -1);
      break;
    case Name::down:
      if (moves_cursor && chosen.cursor + 1 < table.columns.size()) ++chosen.cursor;
      if (!moves_cursor) scroll(chosen, 1);
      break;
    case Name::page_up: scroll(chosen, -10); break;
    case Name::page_down: scroll(chosen, 10); break;
    case Name::home:
      chosen.first_line = 0;
      chosen.first_column = 0;
      break;
    case Name::left:
      if (chosen.first_column > 0) --chosen.first_column;
      break;
    case Name::right:
      if (chosen.first_column + 1 < table.columns.size()) ++chosen.first_column;
      break;
    case Name::escape:
      chosen.page = Page::machine;
      chosen.first_line = 0;
      break;
    default: return Wish::nothing;
  }
  return Wish::redraw;
}

}  // namespace tally::screen
