// What `tally watch` prints: tables for people, CSV and JSON Lines for programs.
#pragma once

#include <string>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/result/watch.hpp"

namespace tally::report {

/// A cell as people read it: "0.13", "1051 K"; "-" where it has no value.
std::string watch_cell(const result::WatchColumn& column, const result::WatchCell& cell);

/// PCM's header, "LABEL : TEXT" a line; what is not known with its reason.
std::string watch_header_text(const result::WatchHeader& header);

/// The columns that stand in a table of rows of some kinds: those of which at least one row has a value. `memory`: the
/// ones that are told around sockets alone, which stand in a table of their own, as in PCM.
std::vector<std::size_t> watch_columns(const result::WatchTable& table, bool memory);

/// The rows as a table, totals and own cost below it.
std::string watch_text(const result::WatchTable& table);

/// Why cells are empty: for each reason the columns that it stands in, and what to do. `wanted`: of one kind of rows.
std::string watch_reasons_text(const result::WatchTable& table);

/// What each column tells, its unit and its source.
std::string watch_legend_text(const result::WatchTable& table);

/// RFC 4180: the header line, and a line for each row.
std::string watch_csv_header(const std::vector<result::WatchColumn>& columns);
std::string watch_csv(const result::WatchTable& table);

/// One JSON object and a line break: tally-watch/1 (docs/reference/watch-json.md).
std::string watch_header_json(const result::WatchHeader& header);
std::string watch_json(const result::WatchTable& table);

}  // namespace tally::report
