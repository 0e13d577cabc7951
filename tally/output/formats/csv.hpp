// Rows of separated fields, as RFC 4180 has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::report {

/// The columns of `tally stat`'s rows.
const std::vector<std::string>& stat_columns();

/// The fields with the separator between them, without an end of line. Fields that hold the separator or a quote are
/// quoted (RFC 4180, section 2); line breaks and other control characters are escaped, and bytes that are not UTF-8
/// replaced, as ForeignText::in_line() does.
std::string csv_row(const std::vector<std::string>& fields, std::string_view separator);

/// Takes the next record off the front of `text`: nothing at its end, and where a quote is never closed.
std::optional<std::vector<std::string>> take_csv_row(std::string_view& text, char separator);

}  // namespace tally::report
