#include "tally/output/kit/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

// Which underscores of a text are markup: those before a word, if others after a word follow, and these.
std::vector<bool> underscores_of_markup(std::string_view text) {
  const auto is_of_word = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  const auto is_space = [&](std::size_t at) { return at >= text.size() || text[at] == ' '; };
  struct Underscores {
    std::size_t begin, end;
    bool can_open, can_close;
  };
  std::vector<Underscores> groups;
  for (std::size_t begin = text.find('_'), end = 0; begin < text.size(); begin = text.find('_', end)) {
    end = std::min(text.find_first_not_of('_', begin), text.size());
    groups.push_back({begin, end, !is_of_word(begin - 1) && !is_space(end), !is_space(begin - 1) && !is_of_word(end)});
  }
  std::vector<bool> all(text.size());
  for (auto first = groups.begin(); first != groups.end(); ++first)
    for (auto last = first + 1; first->can_open && last < groups.end(); ++last)
      if (last->can_close)
        for (const auto* const group : {&*first, &*last})
          std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(group->begin), group->end - group->begin, true);
  return all;
}

}  // namespace

std::string markdown_text(const std::string& text) {
  const std::string plain = printable(text);
  const std::vector<bool> markup = underscores_of_markup(plain);
  std::string escaped;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    const std::size_t end = c == '`' ? plain.find('`', i + 1) : std::string::npos;
    const std::string_view code = std::string_view(plain).substr(i + 1, end == std::string::npos ? 0 : end - i - 1);
    if (!code.empty() && code.find('|') == code.npos) {
      escaped += fmt::format("`{}`", code);
      i = end;
    } else if (c == '_' && !markup[i])
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

std::string markdown_code(const std::string& text) {
  const std::string plain = printable(text);
  std::string fence = "`";
  while (plain.find(fence) != std::string::npos) fence += '`';
  return fence == "`" ? fence + plain + fence : fmt::format("{0} {1} {0}", fence, plain);
}

const char* gate_mark(std::string_view state, bool is_hard) {
  if (state == "passed") return "✅";
  if (state == "undecided") return "⚪";
  return is_hard ? "❌" : "⚠️";
}

}  // namespace tally::output
