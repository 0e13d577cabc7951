// Reads the rows of LENS and of the VANS simulator, for pictures next to tally's own results. Pure.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Whether a text is the kernel's log with lines of LENS, or a CSV file of LENS's scripts, VANS or tally's `lens-csv`.
bool is_lens(std::string_view text);

/// Reads such a text: cold reads and writes of the task `chase-read`, or of the task that tally's rows name. Errors:
/// bad_usage, with the file's name and the reason.
Result<result::Memory> read_lens(std::string_view text, const std::string& name);

}  // namespace tally::memory
