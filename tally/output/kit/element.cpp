#include "tally/output/kit/element.hpp"

#include <fmt/format.h>

#include "tally/core/base/foreign_text.hpp"

namespace tally::output {

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : ForeignText(text).in_lines()) {
    switch (c) {
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '&': html += "&amp;"; break;
      case '"': html += "&quot;"; break;
      default: html += c;
    }
  }
  return html;
}

std::string element(std::string_view tag, std::string_view text, std::string_view kind) {
  if (text.empty()) return {};
  const std::string attribute = kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
  return fmt::format("<{0}{1}>{2}</{0}>\n", tag, attribute, escaped(text));
}

std::string HtmlTable::html() const {
  if (rows_.empty()) return {};
  std::vector<bool> used(headings_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) used[i] = used[i] || !row[i].empty();
  }
  const auto line = [&](const std::vector<std::string>& cells, const char* tag) {
    std::string html = "<tr>";
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      if (!used[i]) continue;
      const char* kind = headings_[i].starts_with('#') ? " class=\"number\"" : "";
      std::string_view cell = i < cells.size() ? std::string_view(cells[i]) : std::string_view();
      if (*tag == 't' && tag[1] == 'h' && cell.starts_with('#')) cell.remove_prefix(1);
      html += fmt::format("<{0}{1}>{2}</{0}>", tag, kind, escaped(cell));
    }
    return html + "</tr>\n";
  };
  std::string html = "<div class=\"scroll\"><table>\n" + line(headings_, "th");
  for (const auto& row : rows_) html += line(row, "td");
  return html + "</table></div>\n";
}

std::string folded(std::string_view summary, const std::string& html) {
  if (html.empty()) return {};
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(summary), html);
}

}  // namespace tally::output
