// Formats and parses the record of a discovery as JSON Lines, one line per run, so that an interruption loses no
// completed run. docs/reference/discover.md describes the format.
#pragma once

#include <string>
#include <string_view>

#include "programs/discovery/analysis/measurement_cells.hpp"
#include "tally/core/base/result.hpp"

namespace tally::discover {

/// Returns the first line, which contains everything except the runs.
std::string header_line(const Record& record);

/// Returns the line of one run.
std::string run_line(const Run& run);

/// Parses the text of a file and ignores an incomplete last line. Errors: bad_usage, with the line number if a line is
/// malformed.
Result<Record> read_record(std::string_view text);

}  // namespace tally::discover
