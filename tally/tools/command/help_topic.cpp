#include "tally/tools/command/help_topic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/tools/command/help_text.hpp"

namespace tally::command {
namespace {

/// An option of a group, with the commands that have it.
struct GroupOption {
  OptionDescription option;
  std::vector<std::string> commands;
};

/// The options of a group of all commands, and the commands.
struct GroupUse {
  std::vector<GroupOption> options;
  std::vector<std::string> commands;

  void add(const std::string& command, const OptionDescription& option) {
    if (commands.empty() || commands.back() != command) commands.push_back(command);
    const auto known = std::ranges::find_if(
        options, [&](const GroupOption& other) { return other.option.names.back() == option.names.back(); });
    GroupOption& entry = known != options.end() ? *known : options.emplace_back(option);
    entry.commands.push_back(command);
  }
};

GroupUse use_of(Commands commands, const OptionGroup& group) {
  GroupUse use;
  for (const CommandDescription& command : commands)
    for (const OptionDescription& option : command.options)
      if (option.group == &group) use.add(fmt::format("`tally {}`", command.name), option);
  return use;
}

}  // namespace

std::string topic_list() {
  std::string text;
  for (const OptionGroup* group : option_groups())
    text += in_lines(fmt::format("  {:<10} ", group->name), group->summary);
  return text;
}

std::string topic_text(Commands commands, const OptionGroup& group) {
  GroupUse use = use_of(commands, group);
  if (use.options.empty()) return paragraphs(std::string(group.text));
  std::vector<OptionDescription> options;
  for (GroupOption& entry : use.options) {
    if (entry.commands != use.commands) entry.option.text += fmt::format(" (only {})", join(entry.commands, ", "));
    options.push_back(std::move(entry.option));
  }
  return in_lines("", fmt::format("These options of {} {}.", join(use.commands, ", "), group.summary)) +
         option_entries(options, "Options") + "\n" + paragraphs(std::string(group.text));
}

}  // namespace tally::command
