// Files of windows, read: every form that `tally sample` writes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/windows_file.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::result {

/// How such a file is written.
enum class WindowsForm { none, csv, json_lines, hpctool, binary };

/// By how a file begins. HPCTool's files begin alike whether their rows are windows or whole runs: hpctool is said of
/// both; are_hpctool_windows() tells.
WindowsForm windows_form(std::string_view text);

/// All windows of a file that is no binary one. `description` is what was written beside it (FILE.meta.json); empty
/// where nothing was. Errors: bad_usage, with the line, for what is no window; `name` is the file's, for the message.
Result<Windows> read_windows_text(std::string_view text, const std::string& name, std::string_view description = {});

/// All windows of a binary file. What stands before a place at which it is damaged is kept, and a notice says so.
/// Errors: those of WindowsDecoder::open().
Result<Windows> read_windows_binary(ByteSource source, const std::string& name);

}  // namespace tally::result
