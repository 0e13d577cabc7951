#include "tally/output/kit/markdown.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "tally/core/base/text.hpp"

namespace tally::output {

std::string markdown_text(const std::string& text) {
  const std::string plain = printable(text);
  const auto is_of_word = [&](std::size_t at) {
    return at < plain.size() && (std::isalnum(static_cast<unsigned char>(plain[at])) != 0 || plain[at] == '_');
  };
  std::string escaped;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    // Within a word, underscores are no markup.
    if (c == '_' && is_of_word(i - 1) && is_of_word(i + 1))
      escaped += c;
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '&')
      escaped += "&amp;";
    else if (std::string_view("\\`*_[]|~#@!").find(c) != std::string_view::npos)
      escaped += fmt::format("&#{};", static_cast<int>(c));
    else
      escaped += c;
  }
  return escaped;
}

const char* gate_mark(std::string_view state, bool is_hard) {
  if (state == "passed") return "✅";
  if (state == "undecided") return "⚪";
  return is_hard ? "❌" : "⚠️";
}

}  // namespace tally::output
