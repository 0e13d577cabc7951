// Reads the rows of LENS and of the VANS simulator, for pictures next to tally's own results. Pure.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::result {

/// A row that LENS and VANS write: stamps a before the writes, b after them, c after the reads.
struct LensRow {
  double region_bytes = 0;
  double regions = 0;   ///< "count"
  double total_ns = 0;  ///< of both passes, c − a
  double start = 0;     ///< a, in ticks of any unit
  double middle = 0;    ///< b
  double end = 0;       ///< c
};

/// ns per 64-byte line.
struct LensTimes {
  double write_ns = 0;
  double read_ns = 0;
};

/// Splits the total by the stamps: each pass's share of c − a.
LensTimes lens_times(const LensRow& row);

/// Whether a text is the kernel's log with lines of LENS, or a CSV file of LENS's scripts, VANS or tally's `lens-csv`.
bool is_lens(std::string_view text);

/// Reads such a text: cold reads and writes of the task `chase-read`, or of the task that tally's rows name. Errors:
/// bad_usage, with the file's name and the reason.
Result<Memory> read_lens(std::string_view text, const std::string& name);

}  // namespace tally::result
