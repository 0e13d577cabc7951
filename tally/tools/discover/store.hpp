// A record as a file: JSON Lines, a line for each run, so that what was measured is kept whatever happens.
// docs/reference/discover.md has the format.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/tools/discover/analysis/record.hpp"

namespace tally::discover {

/// The first line: everything but the runs.
std::string header_line(const Record& record);

/// A line for one run.
std::string run_line(const Run& run);

/// What such a file holds; a last line that was not written to its end is left out. Errors: bad_usage with the line.
Result<Record> read_record(std::string_view text);

}  // namespace tally::discover
