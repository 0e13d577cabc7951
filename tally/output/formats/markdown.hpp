// Text in Markdown.
#pragma once

#include <string>

namespace tally::report {

/// Text from outside in a paragraph or a cell of a table: no markup, no line breaks.
std::string markdown_text(const std::string& text);

}  // namespace tally::report
