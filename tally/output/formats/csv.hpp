// Rows of separated fields (RFC 4180).
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/stat.hpp"

namespace tally::report {

/// The columns of `tally stat`'s rows.
const std::vector<std::string>& stat_columns();

/// The column `command` of rows for the whole command: its words, or what was counted instead.
std::string command_text(const result::Stat& stat);

/// The field of a value that may be missing.
template <class T>
std::string csv_text(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// Joins the fields with the separator, without a line end. Fields with the separator or a quote are quoted (RFC 4180,
/// section 2); line breaks and other control characters are escaped, and invalid UTF-8 replaced, as in
/// ForeignText::in_line().
std::string csv_row(const std::vector<std::string>& fields, std::string_view separator);

/// Removes and returns the first record of `text`; nothing at its end, or if a quote is not closed.
std::optional<std::vector<std::string>> take_csv_row(std::string_view& text, char separator);

}  // namespace tally::report
