#include "tally/output/kit/csv_rows.hpp"

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

std::string quoted(std::string_view field, std::string_view separator) {
  const bool plain = field.find_first_of("\"\r\n") == std::string_view::npos &&
                     (separator.empty() || field.find(separator) == std::string_view::npos);
  if (plain) return std::string(field);
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

}  // namespace

std::string csv_row(const std::vector<std::string>& fields, std::string_view separator) {
  std::vector<std::string> cells;
  for (const std::string& field : fields) cells.push_back(quoted(ForeignText(field).in_line(), separator));
  return join(cells, separator);
}

std::optional<std::vector<std::string>> take_csv_row(std::string_view& text, char separator) {
  if (text.empty()) return std::nullopt;
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && in_quotes && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += text[++i];
    } else if (c == '"') {
      in_quotes = !in_quotes;
    } else if (in_quotes || (c != separator && c != '\n' && c != '\r')) {
      fields.back() += c;
    } else if (c == separator) {
      fields.emplace_back();
    } else if (c == '\n') {
      text.remove_prefix(i + 1);
      return fields;
    }
  }
  if (in_quotes) return std::nullopt;
  text = {};
  return fields;
}

}  // namespace tally::output
