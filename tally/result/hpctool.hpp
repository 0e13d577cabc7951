// The files of HPCTool, read.
#pragma once

#include <string>
#include <string_view>

#include "tally/base/result.hpp"
#include "tally/result/stat.hpp"

namespace tally::result {

/// Whether a text begins as HPCTool's files do: with the names of its seven columns.
bool is_hpctool(std::string_view text);

/// The rows of such a file as runs of one result, and what is striking about them as its notices. HPCTool's rows do not
/// say which events the four counters had: `description` may, the JSON that tally writes beside such a file (its
/// `columns`); empty where there is none. A column that is 0 in every row is absent: that counter did not count.
/// Errors: bad_usage, with the line, where a row is not seven integers; `name` is the file's, for the message.
Result<Stat> read_hpctool(std::string_view text, const std::string& name, std::string_view description = {});

}  // namespace tally::result
