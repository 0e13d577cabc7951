// The formats of `tally watch`: text, CSV and JSON Lines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "programs/watch/output/watch_result.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"

namespace tally::output {

/// Which part of a table is written, and how it continues the previous tables.
struct WatchStyle {
  std::vector<std::size_t> columns;  ///< the columns of the text table; empty: all
  std::string filter;                ///< the word that rows must contain, for the message that none does
  bool is_first = true;              ///< no table was written before
  std::size_t terminal = 0;          ///< columns of the terminal that shows the table; 0: no terminal
};

/// A format of the tables that `tally watch` prints.
struct WatchFormat : Format {
  /// Printed before all tables; null: nothing is. `terminal`: its columns; 0: no terminal.
  std::string (*header)(const result::WatchHeader& header, std::size_t terminal);
  std::string (*write)(const result::WatchTable& table, const WatchStyle& style);
};

/// All formats, the default first.
std::span<const WatchFormat> watch_formats();

/// PCM's header and an empty line.
std::string watch_paragraph(const result::WatchHeader& header, std::size_t terminal);

/// watch_text() after the local time of the reading; the first one also explains the empty cells.
std::string watch_page(const result::WatchTable& table, const WatchStyle& style);

/// A formatted cell: "0.13", "1051 K"; "-" without a value.
std::string watch_cell(const result::WatchColumn& column, const result::WatchCell& cell);

/// PCM's header, one "LABEL: TEXT" per line; for unknown facts the reason.
std::string watch_header_text(const result::WatchHeader& header);

/// The columns with a value in at least one row: of the machine's rows (cores, sockets, the system) or of the others
/// (processes, groups). `memory`: the columns of the memory table, which has only sockets and the system, as in PCM.
std::vector<std::size_t> watch_columns(const result::WatchTable& table, bool of_machine, bool memory);

/// The rows of the machine, or the others, with these columns; the first line is the heading. Empty without columns.
/// `terminal`: see Grid::text(); if the table does not fit, one column holds the whole name of a row.
std::string watch_grid(const result::WatchTable& table, const std::vector<std::size_t>& columns, bool of_machine,
                       bool memory, std::size_t terminal = 0);

/// PCM's closing line.
std::string watch_totals_text(const result::WatchTable& table);

/// All rows as tables, followed by totals and tally's own cost. `columns`: only these, if any are given.
std::string watch_text(const result::WatchTable& table, const std::vector<std::size_t>& columns = {},
                       std::size_t terminal = 0);

/// The reasons for empty cells: for each reason its columns, and what to do.
std::string watch_reasons_text(const result::WatchTable& table, std::size_t width = 80,
                               const std::vector<std::size_t>& columns = {});

/// The meaning, unit and source of each column.
std::string watch_legend_text(const result::WatchTable& table, std::size_t width = 80);

/// RFC 4180: the header line, and one line per row.
std::string watch_csv_header(const std::vector<result::WatchColumn>& columns);
std::string watch_csv(const result::WatchTable& table);

/// One JSON object and a line break: tally-watch/1 (docs/reference/watch-json.md).
std::string watch_header_json(const result::WatchHeader& header);
std::string watch_json(const result::WatchTable& table);

}  // namespace tally::output
