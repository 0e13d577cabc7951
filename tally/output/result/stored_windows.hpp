// Reads files of windows in the formats that `tally sample` writes.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::result {

/// The format of such a file.
enum class WindowsForm { none, csv, json_lines, hpctool };

/// Recognises the format from the beginning of a file. HPCTool's files of windows and of runs begin alike: for hpctool,
/// use are_hpctool_windows().
WindowsForm windows_form(std::string_view text);

/// Reads all windows of a text file. `description` is the content of FILE.meta.json; may be empty. Errors: bad_usage
/// with the line for invalid windows; `name` is the file's name, for messages.
Result<Windows> read_windows_text(std::string_view text, const std::string& name, std::string_view description = {});

}  // namespace tally::result
