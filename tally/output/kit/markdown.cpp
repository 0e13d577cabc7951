#include "tally/output/kit/markdown.hpp"

#include <fmt/format.h>

#include <string_view>

#include "tally/core/base/text.hpp"

namespace tally::output {

std::string markdown_text(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '<')
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
