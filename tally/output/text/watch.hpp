// What `tally watch` prints: tables for people, CSV and JSON Lines for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/format.hpp"
#include "tally/output/result/watch.hpp"

namespace tally::report {

/// What of a table is written, and how it continues the tables before it.
struct WatchStyle {
  std::vector<std::size_t> columns;  ///< of the table for people: these alone; empty: all
  std::string filter;                ///< the word that rows had to contain; for the message that none does
  bool is_first = true;              ///< no table was written before
  std::size_t terminal = 0;          ///< columns of the terminal that shows the table; 0: none does
};

/// A format of the tables that `tally watch` prints.
struct WatchFormat : Format {
  std::string (*header)(const result::WatchHeader& header);  ///< before all tables; null: nothing
  std::string (*write)(const result::WatchTable& table, const WatchStyle& style);
};

/// All of them, the default first.
std::span<const WatchFormat> watch_formats();

/// PCM's header and an empty line.
std::string watch_paragraph(const result::WatchHeader& header);

/// watch_text() after the local time of the reading; after the first one the reasons of empty cells.
std::string watch_page(const result::WatchTable& table, const WatchStyle& style);

/// A cell as people read it: "0.13", "1051 K"; "-" where it has no value.
std::string watch_cell(const result::WatchColumn& column, const result::WatchCell& cell);

/// PCM's header, "LABEL : TEXT" a line; what is not known with its reason.
std::string watch_header_text(const result::WatchHeader& header);

/// The columns of which at least one row has a value: of the machine's rows (cores, sockets, the system) or of the
/// others (processes, groups). `memory`: the ones that are told around sockets alone, which stand in a table of their
/// own, as in PCM.
std::vector<std::size_t> watch_columns(const result::WatchTable& table, bool of_machine, bool memory);

/// Rows of the machine, or the others, with these columns; the first line is the heading. Empty without columns.
/// `terminal`: as of Grid::text(); where that breaks the table, one column has all that names a row.
std::string watch_grid(const result::WatchTable& table, const std::vector<std::size_t>& columns, bool of_machine,
                       bool memory, std::size_t terminal = 0);

/// PCM's closing line.
std::string watch_totals_text(const result::WatchTable& table);

/// All rows as tables, totals and own cost below. `columns`: these alone, where there are some.
std::string watch_text(const result::WatchTable& table, const std::vector<std::size_t>& columns = {},
                       std::size_t terminal = 0);

/// Why cells are empty: for each reason the columns that it stands in, and what to do.
std::string watch_reasons_text(const result::WatchTable& table, std::size_t width = 80,
                               const std::vector<std::size_t>& columns = {});

/// What each column tells, its unit and its source.
std::string watch_legend_text(const result::WatchTable& table, std::size_t width = 80);

/// RFC 4180: the header line, and a line for each row.
std::string watch_csv_header(const std::vector<result::WatchColumn>& columns);
std::string watch_csv(const result::WatchTable& table);

/// One JSON object and a line break: tally-watch/1 (docs/reference/watch-json.md).
std::string watch_header_json(const result::WatchHeader& header);
std::string watch_json(const result::WatchTable& table);

}  // namespace tally::report
