// Formats of results of `tally stat`: results in, text out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/format.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::report {

/// How a result is written: how much of it, and how it goes on from what a file holds already.
struct Style {
  bool per_process = false;     ///< each process's own counts as well
  bool per_thread = false;      ///< each thread's own counts as well
  std::string separator = ",";  ///< between the columns of csv and fields
  bool intervals = true;        ///< the counts of intervals too, where there are some and they were not told before
  bool header = true;           ///< begins with the line of column names, where the form has one
  bool run_numbers = false;     ///< table: a column with the number of the run, in rows of intervals
  int first_run = 1;            ///< number of the first run, where runs have numbers
  bool one_line = false;        ///< json: the object in one line
  std::size_t terminal = 0;     ///< table: columns of the terminal that shows it; 0: none does, and nothing is cut
};

/// A format of results of `tally stat`.
struct StatFormat : Format {
  /// The text, ending with the end of a line. Errors: bad_usage where this result has no such form.
  Result<std::string> (*write)(const result::Stat& stat, const Style& style);

  /// Which columns hold which events, where the text itself does not say it; else null.
  std::vector<std::pair<std::string, std::string>> (*columns)(const result::Stat& stat);

  /// How one more result is written after `existing`, which is not empty. Errors: bad_usage where that is something
  /// else than this form writes.
  Result<Style> (*append)(std::string_view existing, Style style);

  /// Whether these events (full names, in the order asked) have a place in it, before they are counted; all of them
  /// must then be there. Null where any will do. Errors: bad_usage with what is missing.
  Result<void> (*fits)(const std::vector<EventName>& events);

  /// One interval, while it goes on; null where the form tells everything at the end.
  std::string (*live)(const result::Interval& interval, const Style& style);

  bool needs_description = false;  ///< a JSON object is written beside the file, which says what was measured
  bool has_parts = true;           ///< there is a place for the regions of a program
};

/// All that `--format` knows, the default first.
std::span<const StatFormat> stat_formats();

/// What `-x` writes: fields as `perf stat -x` has them.
const StatFormat& fields_format();

/// For people: one aligned row for each event, what was seen below it.
Result<std::string> table(const result::Stat& stat, const Style& style);

/// For programs: one JSON object, documented in docs/reference/stat-json.md.
Result<std::string> json(const result::Stat& stat, const Style& style);

/// The same object, with the columns of the file that it stands beside.
std::string description(const result::Stat& stat, const Style& style, const StatFormat& of);

/// For spreadsheets and data frames: RFC 4180, documented in docs/reference/stat-csv.md.
Result<std::string> csv(const result::Stat& stat, const Style& style);

/// For scripts that read what perf writes: documented in docs/reference/stat-csv.md.
Result<std::string> fields(const result::Stat& stat, const Style& style);

/// The columns of HPCTool: three fixed counters and four others, one row for each run.
Result<std::string> hpctool(const result::Stat& stat, const Style& style);

/// That a form has no place for parts of programs, where these were asked for: its rows would be taken for theirs.
/// Errors: bad_usage.
Result<void> fits_parts(const StatFormat& format, bool of_parts);

/// Whether these events (full names, in the order asked) are what hpctool needs. Errors: bad_usage with what is
/// missing.
Result<void> fits_hpctool(const std::vector<EventName>& events);

/// Its header, and which of these events stand in which of its columns. Errors: as fits_hpctool().
std::string hpctool_header();
Result<std::vector<std::size_t>> hpctool_places(const std::vector<EventName>& events);

/// For append(): it goes on where the text ends, whatever that is.
Result<Style> append_anything(std::string_view existing, Style style);
Result<Style> append_json(std::string_view existing, Style style);
Result<Style> append_csv(std::string_view existing, Style style);
Result<Style> append_hpctool(std::string_view existing, Style style);

std::vector<std::pair<std::string, std::string>> hpctool_columns(const result::Stat& stat);

}  // namespace tally::report
