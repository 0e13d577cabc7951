// Formats of results of `tally stat`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// What parts of a result are written, and how it is appended to an existing file.
struct Style {
  bool per_process = false;     ///< with the counts of each process
  bool per_thread = false;      ///< with the counts of each thread
  std::string separator = ",";  ///< between the columns of csv and fields
  bool intervals = true;        ///< with the counts of intervals, unless they were already printed
  bool header = true;           ///< begin with the line of column names, if the format has one
  bool run_numbers = false;     ///< table: number of the run in rows of intervals
  int first_run = 1;            ///< number of the first run
  bool one_line = false;        ///< json: the object in one line
  std::string command = {};     ///< csv: the column `command` of intervals, which are written during the run
  std::size_t terminal = 0;     ///< table: columns of the terminal; 0: no terminal, so nothing is cut
};

/// A format of results of `tally stat`.
struct StatFormat : Format {
  /// Writes the text, which ends with a line end. Errors: bad_usage if the format cannot represent this result.
  Result<std::string> (*write)(const result::Stat& stat, const Style& style);

  /// The event of each column, if the text itself does not contain them; else null.
  std::vector<std::pair<std::string, std::string>> (*columns)(const result::Stat& stat);

  /// The style for appending another result to `existing`, which is not empty. Errors: bad_usage if this format did not
  /// write it.
  Result<Style> (*append)(std::string_view existing, Style style);

  /// Checks before counting whether the format can represent these events (full names, in requested order); all of them
  /// must later be present. Null if it supports any events. Errors: bad_usage with what is missing.
  Result<void> (*fits)(const std::vector<EventName>& events);

  /// Writes one interval during the run; null if the format only writes complete results.
  std::string (*live)(const result::Interval& interval, const Style& style);

  bool needs_description = false;  ///< a JSON object that describes the measurement is written next to the file
  bool has_parts = true;           ///< it supports regions of a program
};

/// All formats of `--format`, the default first.
std::span<const StatFormat> stat_formats();

/// The format of `-x`: the fields of `perf stat -x`.
const StatFormat& fields_format();

/// The format of `-j`: the JSON lines of `perf stat -j`.
const StatFormat& perf_json_format();

/// Text: one aligned row for each event, and a summary of the run below.
Result<std::string> table(const result::Stat& stat, const Style& style);

/// JSON: one object, documented in docs/reference/stat-json.md.
Result<std::string> json(const result::Stat& stat, const Style& style);

/// The result with only those processes and threads that the style shows.
result::Stat shown_parts(result::Stat stat, const Style& style);

/// Markdown: a comment, or part of a document.
Result<std::string> stat_markdown(const result::Stat& stat, const Style& style);

/// The same object, with the columns of the file that it describes.
std::string description(const result::Stat& stat, const Style& style, const StatFormat& of);

/// CSV: RFC 4180, documented in docs/reference/stat-csv.md.
Result<std::string> csv(const result::Stat& stat, const Style& style);

/// Fields for scripts that read the output of perf: documented in docs/reference/stat-csv.md.
Result<std::string> fields(const result::Stat& stat, const Style& style);

/// JSON lines for programs that read the output of `perf stat -j`, with the trust of each count.
Result<std::string> perf_json(const result::Stat& stat, const Style& style);

/// The columns of HPCTool: three fixed counters and four others, one row per run.
Result<std::string> hpctool(const result::Stat& stat, const Style& style);

/// The error for regions of programs in a format without them (has_parts): its rows could not be distinguished.
Error parts_error(const StatFormat& format);

/// Checks that these events (full names, in requested order) are those that hpctool needs. Errors: bad_usage with what
/// is missing.
Result<void> fits_hpctool(const std::vector<EventName>& events);

/// Its header, and the event of each column. Errors: as fits_hpctool().
std::string hpctool_header();
Result<std::vector<std::size_t>> hpctool_places(const std::vector<EventName>& events);

/// For append(): accepts any text.
Result<Style> append_anything(std::string_view existing, Style style);
/// For append(): refuses, because a page is a whole file.
Result<Style> append_no_page(std::string_view existing, Style style);
Result<Style> append_json(std::string_view existing, Style style);
Result<Style> append_csv(std::string_view existing, Style style);
Result<Style> append_hpctool(std::string_view existing, Style style);

std::vector<std::pair<std::string, std::string>> hpctool_columns(const result::Stat& stat);

/// The columns of `tally stat`'s rows.
const std::vector<std::string>& stat_columns();

/// The column `command` of rows for the whole command: its words, or what was counted instead.
std::string command_text(const result::Stat& stat);

}  // namespace tally::output
