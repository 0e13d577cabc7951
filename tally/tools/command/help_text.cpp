#include "tally/tools/command/help_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
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

}  // namespace

std::string option_entries(const std::vector<OptionDescription>& options, const char* heading) {
  constexpr std::size_t widest = 32;
  if (options.empty()) return {};
  std::size_t width = 0;
  for (const OptionDescription& option : options) width = std::max(width, std::min(entry_of(option).size(), widest));
  std::string text = fmt::format("\n{}:\n", heading);
  for (const OptionDescription& option : options) {
    text += output::hanging(fmt::format("  {:<{}}  ", entry_of(option), width), option.text);
  }
  return text;
}

std::string group_entries(const std::vector<OptionDescription>& options) {
  std::string text;
  for (const OptionGroup* group : option_groups()) {
    std::vector<std::string> names;
    for (const OptionDescription& option : options)
      if (option.group == group) names.push_back(join(option.names, "/"));
    if (names.empty()) continue;
    text += output::hanging(fmt::format("  {:<10} ", group->name),
                            fmt::format("{}: {}", group->summary, join(names, ", ")));
  }
  return text.empty() ? "" : "\nMore options, which `tally help TOPIC` describes:\n" + text;
}

std::string paragraphs(const std::string& footer) {
  std::string text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += output::hanging("", paragraph);
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
