#include "tally/tools/command/help_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/wrap.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::command {
namespace {

// "-e, --event EVENTS", or a positional argument's name.
std::string entry_of(const OptionDescription& option) {
  if (option.is_positional()) return option.positional_name;
  std::string text = join(option.names, ", ");
  // Aligns with options that have a short name.
  if (!option.has_short_name) text.insert(0, "    ");
  return option.value_name.empty() ? text : text + " " + option.value_name;
}

// The column of the texts.
std::size_t entry_width(const std::vector<OptionDescription>& options, std::size_t widest) {
  std::size_t width = 0;
  for (const OptionDescription& option : options) width = std::max(width, std::min(entry_of(option).size(), widest));
  return width;
}

// The names of the options of a group: "-p/--pid, --cgroup".
std::string names_in(const OptionGroup& group, const std::vector<OptionDescription>& options) {
  std::vector<std::string> names;
  for (const OptionDescription& option : options)
    if (option.group == &group) names.push_back(join(option.names, "/"));
  return join(names, ", ");
}

std::string list_of_groups(const std::vector<OptionDescription>& options, bool with_summary) {
  std::string text;
  for (const OptionGroup* group : option_groups()) {
    const std::string names = names_in(*group, options);
    if (names.empty()) continue;
    text += in_lines(fmt::format("  {:<10} ", group->name),
                     with_summary ? fmt::format("{}: {}", group->summary, names) : names);
  }
  return text.empty() ? "" : "\nMore options, which `tally help TOPIC` describes:\n" + text;
}

// Whether the text after the parenthesis that opens at `at` begins a new clause, so that the text may end before it.
bool ends_clause(std::string_view text, std::size_t at) {
  const std::size_t close = text.find(')', at);
  return close == text.npos || close + 1 == text.size() || text[close + 1] == ';' || text[close + 1] == '.';
}

// The last index up to `columns`, outside of parentheses, at which a text may end before `end`; npos if there is none.
std::size_t last_end(std::string_view text, std::string_view end, std::size_t columns) {
  std::size_t latest = text.npos;
  int depth = 0;
  for (std::size_t at = 0; at < text.size() && at <= columns; ++at) {
    if (depth == 0 && at > 0 && text.substr(at).starts_with(end) && (end != " (" || ends_clause(text, at))) latest = at;
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
  }
  return latest;
}

}  // namespace

std::size_t line_count(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

std::size_t help_columns() { return output::prose_width(80, linux::terminal_columns(linux::Stream::output)); }

std::string in_lines(std::string_view start, std::string_view text) {
  return output::hanging_within(help_columns(), start, text);
}

std::string option_entries(const std::vector<OptionDescription>& options, const std::string& heading) {
  if (options.empty()) return {};
  const std::size_t width = entry_width(options, 32);
  std::string text = fmt::format("\n{}:\n", heading);
  for (const OptionDescription& option : options) {
    text += in_lines(fmt::format("  {:<{}}  ", entry_of(option), width), option.text);
  }
  return text;
}

std::string brief_entries(const std::vector<OptionDescription>& options, const std::string& heading) {
  if (options.empty()) return {};
  const std::size_t width = entry_width(options, 26);
  std::string text = fmt::format("\n{}:\n", heading);
  for (const OptionDescription& option : options) {
    const std::string start = fmt::format("  {:<{}}  ", entry_of(option), width);
    text += start + brief(option.text, std::max(help_columns(), start.size() + 24) - start.size()) + "\n";
  }
  return text;
}

std::string brief(const std::string& text, std::size_t columns) {
  if (text.size() <= columns) return text;
  const auto cut_at = [&](std::string_view end, std::size_t least,
                          std::string_view ellipsis) -> std::optional<std::string> {
    const std::size_t at = last_end(text, end, columns - display_width(ellipsis));
    if (at == text.npos || at < least) return std::nullopt;
    return text.substr(0, at) + std::string(ellipsis);
  };
  for (const std::string_view end : {"; ", ". ", " ("})
    if (auto clause = cut_at(end, 8, "")) return *clause;
  if (auto part_of_list = cut_at(", ", columns / 3, " …")) return *part_of_list;
  if (auto clause = cut_at(": ", columns / 3, "")) return *clause;
  return cut_at(" ", 8, " …").value_or(text.substr(0, columns));
}

std::string group_entries(const std::vector<OptionDescription>& options) { return list_of_groups(options, true); }

std::string group_names(const std::vector<OptionDescription>& options) { return list_of_groups(options, false); }

std::string whole_groups(const std::vector<OptionDescription>& options) {
  std::string text;
  for (const OptionGroup* group : option_groups()) {
    std::vector<OptionDescription> own;
    std::ranges::copy_if(options, std::back_inserter(own), [&](const auto& option) { return option.group == group; });
    if (own.empty()) continue;
    const std::string heading = in_lines("", fmt::format("Options that {}:", group->summary));
    text += option_entries(own, heading.substr(0, heading.size() - 2));
    if (!group->text.empty()) text += "\n" + paragraphs(std::string(group->text));
  }
  return text;
}

std::string examples(const std::string& footer, std::size_t lines) {
  const std::size_t at = footer.find("Examples:\n");
  if (at == footer.npos) return {};
  std::vector<std::string> shown;
  for (const std::string& line : split(trimmed(footer.substr(at)), '\n')) {
    if (shown.size() == lines) break;
    shown.push_back(line);
  }
  while (!shown.empty() && (shown.back().starts_with("  #") || shown.back() == "Examples:")) shown.pop_back();
  return shown.empty() ? "" : join(shown, "\n") + "\n";
}

std::string paragraphs(const std::string& footer) {
  std::string text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += in_lines("", paragraph);
    paragraph.clear();
  };
  for (const std::string& line : split(trimmed(footer), '\n')) {
    if (line.empty() || line.starts_with("  ")) {
      end_paragraph();
      text += line + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end_paragraph();
  return text;
}

}  // namespace tally::command
