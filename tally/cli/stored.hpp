// Files with results, as `export` and `report` read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/result/stat.hpp"
#include "tally/result/windows_table.hpp"

namespace tally::cli {

/// The text of a file with results; "-" is standard input. A pipe is read once, however often it is asked for. Errors:
/// bad_usage.
Result<std::string> read_stored(const std::string& file);

/// The results of `tally stat`, or of HPCTool, in the text of `file`. Errors: bad_usage, with the place.
Result<std::vector<result::Stat>> stored_stats(std::string_view text, const std::string& file);

/// Whether the text of `file` holds windows, in any form that `tally sample` writes, or HPCTool in its sampling mode.
bool is_of_windows(std::string_view text, const std::string& file);

/// The windows in the text of `file`. Errors: bad_usage, with the place.
Result<result::Windows> stored_windows(std::string_view text, const std::string& file);

/// Whether writing to `output` would take the place of one of the files that are read: refused before anything is lost.
/// Errors: bad_usage.
Result<void> check_not_read(const std::string& output, const std::vector<std::string>& files);

}  // namespace tally::cli
