#include "tally/cli/event_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/core/count/likwid_groups.hpp"
#include "tally/hardware/event/shipped_groups.hpp"
#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::cli {
namespace {

constexpr std::string_view ending = ".txt";

// Empty without a home.
std::string folder_of_user() {
  const std::string folder = linux::user_folder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? "" : folder + "/groups";
}

// The texts of all groups by name. Those of the user replace tally's.
Result<std::map<std::string, std::string>> all_groups() {
  std::map<std::string, std::string> groups;
  for (const event::ShippedGroup& group : event::shipped_groups()) groups.emplace(group.name, group.text);
  const std::string folder = folder_of_user();
  for (const std::string& file : linux::folder_entries(folder)) {
    if (!file.ends_with(ending)) continue;
    auto text = linux::read_file(folder + "/" + file);
    if (!text) return fail(text.error());
    groups[file.substr(0, file.size() - ending.size())] = *std::move(text);
  }
  return groups;
}

Result<event::EventGroup> parse_named(const std::string& name, const std::string& text) {
  auto group = event::parse_group(text);
  if (!group)
    return fail(Code::bad_usage, fmt::format("group {}: {}", name, group.error().message), group.error().hint);
  return group;
}

Error unknown_group(const std::string& name, const std::map<std::string, std::string>& groups) {
  std::vector<std::string> names;
  for (const auto& group : groups) names.push_back(lower(group.first));
  std::string hint = "`tally events --groups` lists them";
  if (const std::string_view likwid = hint_of_likwid_group(name); !likwid.empty()) {
    hint = likwid;
  } else if (const auto near = nearest(lower(name), names); !near.empty()) {
    hint = fmt::format("did you mean {}? {}", join(near, ", "), hint);
  }
  return {Code::bad_usage, fmt::format("unknown group '{}'", printable(name)), std::move(hint), 0};
}

}  // namespace

Result<void> add_groups(const std::string& names, std::vector<std::string>& events, std::vector<std::string>& metrics) {
  const auto groups = all_groups();
  if (!groups) return fail(groups.error());
  for (const std::string& name : split(names, ',')) {
    const auto match = std::find_if(groups->begin(), groups->end(),
                                    [&](const auto& group) { return lower(group.first) == lower(name); });
    if (match == groups->end()) return fail(unknown_group(name, *groups));
    const auto group = parse_named(match->first, match->second);
    if (!group) return fail(group.error());
    events.insert(events.end(), group->events.begin(), group->events.end());
    metrics.insert(metrics.end(), group->metrics.begin(), group->metrics.end());
  }
  return {};
}

Result<std::string> group_list() {
  const auto groups = all_groups();
  if (!groups) return fail(groups.error());
  std::string text;
  for (const auto& [name, content] : *groups) {
    const auto group = parse_named(name, content);
    if (!group) return fail(group.error());
    text += fmt::format("{}: {}\n  events   {}\n", printable(name), printable(group->what),
                        printable(join(group->events, ",")));
    for (const std::string& metric : group->metrics) text += fmt::format("  metric   {}\n", printable(metric));
  }
  return text + "\n`tally stat --group NAME` counts one. Files NAME.txt in " +
         (folder_of_user().empty() ? "$XDG_CONFIG_HOME/tally/groups" : printable(folder_of_user())) +
         " are groups, too.\n";
}

}  // namespace tally::cli
