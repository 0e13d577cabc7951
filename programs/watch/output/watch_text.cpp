#include "programs/watch/output/watch_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"

namespace tally::output {
namespace {

using result::WatchKind;
using result::WatchRow;
using result::WatchTable;

// As in PCM: at most four digits, then the letter.
std::string scaled(double value, double step, const char* letters) {
  double rest = value;
  const char* letter = letters;
  while (std::abs(rest) >= 9999.5 && letter[1] != '\0') {
    rest /= step;
    ++letter;
  }
  const bool is_small = *letter == ' ' && std::abs(rest) < 10 && rest != std::floor(rest);
  const std::string number = is_small ? fmt::format("{:.1f}", rest) : fmt::format("{:.0f}", rest);
  return *letter == ' ' ? number : fmt::format("{} {}", number, *letter);
}

bool is_of_memory(const std::string& name) {
  for (const char* column : {"READ", "WRITE", "LOCAL", "CPU", "DIMM", "LLCRDMISSLAT", "UncFREQ"}) {
    if (name == column) return true;
  }
  return false;
}

std::string heading(const result::WatchColumn& column) {
  return column.unit.empty() || column.unit == "GHz" || column.unit == "1/s" || column.unit == "B"
             ? column.name
             : fmt::format("{} {}", column.name, column.unit);
}

// "0", "SKT 0", "SYS", in three cells.
std::vector<std::string> names_of(const WatchRow& row) {
  switch (row.kind) {
    case WatchKind::core: return {row.name, row.socket ? std::to_string(*row.socket) : "", ""};
    case WatchKind::socket: return {"SKT", row.name, ""};
    case WatchKind::system: return {"SYS", "", ""};
    case WatchKind::process: return {row.process ? std::to_string(*row.process) : "", "", row.name};
    case WatchKind::group: break;
  }
  return {"", "", row.name};
}

// Joins the cells that name a row.
std::string words_of(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells)
    if (!cell.empty()) text += (text.empty() ? "" : " ") + cell;
  return text;
}

bool has_rows(const WatchTable& table, bool of_machine) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const WatchRow& row) {
    return (row.kind != WatchKind::process && row.kind != WatchKind::group) == of_machine;
  });
}

std::size_t widest_of(const std::vector<std::string>& lines) {
  std::size_t widest = 0;
  for (const std::string& line : lines) widest = std::max(widest, display_width(line));
  return widest;
}

constexpr std::size_t least_command = 16, usual_command = 32;  // columns

// Appends the commands, of which the first is the heading, to the lines of a table, if the terminal has room for them.
std::string with_commands(const std::string& table, const std::vector<std::string>& commands, std::size_t terminal) {
  std::vector<std::string> lines = split(table, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  const std::size_t begin = widest_of(lines) + 2;
  if ((terminal != 0 && begin + least_command > terminal) || lines.size() != commands.size()) return table;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    if (!commands[i].empty())
      text += std::string(begin - display_width(lines[i]), ' ') +
              (terminal == 0 ? commands[i] : shortened(commands[i], terminal - begin));
    text += "\n";
  }
  return text;
}

std::string own_cost_text(const WatchTable& table) {
  if (!table.own_cost.value) return {};
  std::string text = fmt::format(" tally itself: {:.2f} % of one processor", *table.own_cost.value);
  if (table.rows_left_out > 0) {
    text += fmt::format("; {} not shown", plural(static_cast<std::int64_t>(table.rows_left_out), "row", "rows"));
  }
  return text + "\n";
}

// " 2026-11-25 21:30:05", in local time.
std::string moment_text(Nanoseconds since_1970) {
  const auto seconds = static_cast<std::time_t>(since_1970.count() / 1'000'000'000);
  std::tm parts{};
  char text[32] = "";
  if (!localtime_r(&seconds, &parts) || std::strftime(text, sizeof text, " %F %T\n", &parts) == 0) return {};
  return text;
}

}  // namespace

std::string watch_cell(const result::WatchColumn& column, const result::WatchCell& cell) {
  if (!cell.value) return "-";
  switch (column.style) {
    case result::WatchStyle::fixed: return fmt::format("{:.{}f}", *cell.value, column.digits);
    case result::WatchStyle::count: return scaled(*cell.value, 1000, " KMGT");
    case result::WatchStyle::bytes: return scaled(*cell.value, 1024, " KMGT");
  }
  return {};
}

std::string watch_header_text(const result::WatchHeader& header) {
  std::string text = "=====  Processor information  =====\n";
  for (const result::WatchFact& fact : header.facts) {
    text += fmt::format("{}: {}\n", fact.label,
                        fact.text.empty() ? fmt::format("- ({})", fact.reason) : printable(fact.text));
  }
  return text;
}

std::vector<std::size_t> watch_columns(const WatchTable& table, bool of_machine, bool memory) {
  std::vector<std::size_t> columns;
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    if (of_machine && is_of_memory(table.columns[at].name) != memory) continue;
    const bool any = std::any_of(table.rows.begin(), table.rows.end(), [&](const WatchRow& row) {
      return (row.kind != WatchKind::process && row.kind != WatchKind::group) == of_machine &&
             row.cells[at].value.has_value();
    });
    if (any) columns.push_back(at);
  }
  return columns;
}

std::string watch_grid(const WatchTable& table, const std::vector<std::size_t>& columns, bool of_machine, bool memory,
                       std::size_t terminal) {
  if (columns.empty()) return {};
  const std::vector<std::string> names = of_machine ? std::vector<std::string>{memory ? "MEM" : "Core", "SKT", ""}
                                                    : std::vector<std::string>{"PID", "", "NAME"};
  std::vector<Column> heads{{names[0], Align::right}, {names[1], Align::right}, {names[2]}};
  std::vector<Column> narrow_heads{{words_of(names), Align::left, 0, true}};
  for (const std::size_t at : columns) {
    heads.push_back({heading(table.columns[at]), Align::right});
    narrow_heads.push_back(heads.back());
    const std::string& name = table.columns[at].name;
    narrow_heads.back().is_key = !of_machine && (name == "UTIL" || name == "MEM");
  }
  constexpr std::size_t least_terminal = 80;  // in narrower ones, the numbers of a process are worth more
  if (!of_machine && terminal >= least_terminal) narrow_heads.push_back(key_column("COMMAND"));
  Grid grid(std::move(heads)), narrow(std::move(narrow_heads));
  std::vector<std::string> commands{"COMMAND"};
  for (const WatchRow& row : table.rows) {
    const bool is_of_machine = row.kind != WatchKind::process && row.kind != WatchKind::group;
    if (is_of_machine != of_machine || (memory && row.kind == WatchKind::core)) continue;
    std::vector<std::string> cells = names_of(row), narrow_cells{words_of(cells)};
    for (const std::size_t at : columns) {
      cells.push_back(watch_cell(table.columns[at], row.cells[at]));
      narrow_cells.push_back(cells.back());
    }
    commands.push_back(row.command);
    if (!of_machine) narrow_cells.push_back(shortened(row.command, usual_command));
    grid.add(std::move(cells));
    narrow.add(std::move(narrow_cells));
  }
  std::string text = grid.text();
  const bool has_commands =
      std::any_of(commands.begin() + 1, commands.end(), [](auto& command) { return !command.empty(); });
  const std::size_t widest = widest_of(split(text, '\n'));
  const bool drops_for_commands = has_commands && terminal >= least_terminal && widest + 2 + least_command > terminal;
  if (terminal != 0 && (widest > terminal || drops_for_commands)) return narrow.text(terminal);
  return has_commands ? with_commands(text, commands, terminal) : text;
}

std::string watch_totals_text(const WatchTable& table) {
  const auto total = [](const char* label, const result::WatchCell& cell, const char* unit) {
    return fmt::format("{}: {}", label, cell.value ? scaled(*cell.value, 1000, " KMGT") + unit : "-");
  };
  return fmt::format(" {} ; {} ; {} ;\n", total("Instructions retired", table.totals.instructions, ""),
                     total("Active cycles", table.totals.cycles, ""), total("Time (TSC)", table.totals.ticks, "ticks"));
}

std::string watch_text(const WatchTable& table, const std::vector<std::size_t>& columns, std::size_t terminal) {
  const auto chosen = [&](bool of_machine, bool memory) {
    std::vector<std::size_t> all = watch_columns(table, of_machine, memory);
    if (!columns.empty()) {
      std::erase_if(all,
                    [&](std::size_t at) { return std::find(columns.begin(), columns.end(), at) == columns.end(); });
    }
    return all;
  };
  std::string text;
  if (has_rows(table, true)) {
    text += watch_grid(table, chosen(true, false), true, false, terminal);
    const std::string totals = watch_totals_text(table);
    text += terminal == 0 ? totals : prose_line(trimmed(totals), terminal);
    const std::string memory = watch_grid(table, chosen(true, true), true, true, terminal);
    if (!memory.empty()) text += "\n" + memory;
  }
  if (has_rows(table, false)) {
    if (!text.empty()) text += "\n";
    text += watch_grid(table, chosen(false, false), false, false, terminal);
  }
  return text + own_cost_text(table);
}

std::string watch_reasons_text(const WatchTable& table, std::size_t width, const std::vector<std::size_t>& chosen) {
  // A column without any value is missing; if some rows have values, it is missing only in the other rows.
  std::map<std::size_t, std::vector<std::string>> columns;
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), at) == chosen.end()) continue;
    std::set<std::size_t> reasons;
    const bool somewhere = std::any_of(table.rows.begin(), table.rows.end(),
                                       [&](const WatchRow& row) { return row.cells[at].value.has_value(); });
    for (const WatchRow& row : table.rows) {
      const result::WatchCell& cell = row.cells[at];
      if (cell.value || cell.reason >= table.reasons.size() || !reasons.insert(cell.reason).second) continue;
      if (table.reasons[cell.reason].code == "not-of-this") continue;
      columns[cell.reason].push_back(somewhere ? fmt::format("{} of a {}", table.columns[at].name, name(row.kind))
                                               : table.columns[at].name);
    }
  }
  std::string text;
  for (const auto& [reason, names] : columns) {
    const result::WatchReason& why = table.reasons[reason];
    text += hanging(" ", join(names, ", ") + ":", width) + hanging("     ", why.text, width);
    if (!why.hint.empty()) text += hanging("     -> ", why.hint, width);
  }
  return text.empty() ? text : "Absent here:\n" + text;
}

std::string watch_legend_text(const WatchTable& table, std::size_t width) {
  std::string text;
  std::size_t widest = 0;
  for (const auto& column : table.columns) widest = std::max(widest, column.name.size());
  for (const auto& column : table.columns) {
    std::string what = column.what;
    if (!column.unit.empty()) what += fmt::format(" [{}]", column.unit);
    if (!column.source.empty()) what += fmt::format("; from {}", column.source);
    text += hanging(fmt::format(" {:<{}}  ", column.name, widest), what, width);
  }
  return text;
}

std::string watch_paragraph(const result::WatchHeader& header, std::size_t terminal) {
  result::WatchHeader shown = header;
  const auto absent = static_cast<std::int64_t>(
      std::erase_if(shown.facts, [](const result::WatchFact& fact) { return fact.text.empty(); }));
  std::string text = watch_header_text(shown);
  if (absent > 0)
    text += fmt::format("not available here: {}; `--format json` lists them and the reasons\n",
                        plural(absent, "fact", "facts"));
  return wrapped_lines(text, terminal) + "\n";
}

std::string watch_page(const WatchTable& table, const WatchStyle& style) {
  // The reasons for empty cells are always the same, so only the first table prints them.
  return (style.is_first ? "" : "\n") + moment_text(table.time) + watch_text(table, style.columns, style.terminal) +
         (table.rows.empty() ? " No row matches --filter " + printable(style.filter) + ".\n" : "") +
         (table.hides_processes ? " /proc hides the processes of other users (hidepid); root sees them.\n" : "") +
         (style.is_first ? "\n" + watch_reasons_text(table, prose_width(80, style.terminal), style.columns) : "");
}

}  // namespace tally::output
