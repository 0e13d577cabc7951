#include "tally/output/kit/wrap.hpp"

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::output {

std::string hanging(std::string_view start, std::string_view text) { return hanging_within(80, start, text); }

std::string hanging_within(std::size_t columns, std::string_view start, std::string_view text) {
  // If the first column is wide, the text still gets at least a third of the line.
  const std::size_t indent = std::min(display_width(start), columns * 2 / 3);
  std::string lines(start);
  std::size_t column = display_width(start);
  bool first = true;
  for (const std::string& word : split(text, ' ')) {
    const std::size_t width = display_width(word);
    if (!first && column + 1 + width > columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += width;
    first = false;
  }
  const std::size_t end = lines.find_last_not_of(' ');
  return lines.substr(0, end == std::string::npos ? 0 : end + 1) + "\n";
}

}  // namespace tally::output
