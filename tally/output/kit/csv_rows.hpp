// Rows of separated fields (RFC 4180).
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::output {

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

}  // namespace tally::output
