// The elements of a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tally::output {

/// Escapes text for HTML: <, > and &, quotes, control characters other than line breaks and tabs, and invalid UTF-8.
std::string escaped(std::string_view text);

/// <tag class="kind">text</tag>, the text escaped; empty for an empty text.
std::string element(std::string_view tag, std::string_view text, std::string_view kind = {});

/// A table on a page. A column that is empty in every row is left out.
class HtmlTable {
 public:
  /// A heading that begins with '#' (not shown) marks a column of numbers, which is aligned right.
  explicit HtmlTable(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  /// Empty without rows.
  std::string html() const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// Content that opens on a click on `summary`.
std::string folded(std::string_view summary, const std::string& html);

}  // namespace tally::output
