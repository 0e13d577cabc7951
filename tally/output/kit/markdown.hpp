// Text in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace tally::output {

/// Text from outside in a paragraph or a cell of a table: no markup but `code`, no line breaks. The text is a whole
/// paragraph or cell, apart from markup without underscores.
std::string markdown_text(const std::string& text);

/// The same as code: `text`.
std::string markdown_code(const std::string& text);

/// The symbol of a gate: passed, undecided, failed, or a warning.
const char* gate_mark(std::string_view state, bool is_hard);

}  // namespace tally::output
