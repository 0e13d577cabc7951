#include "tally/cli/event_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/core/count/likwid_groups.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/hardware/event/shipped_groups.hpp"
#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/output/kit/wrap.hpp"

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

// Adds the events that exist, or the first optional one, and the metrics without the others.
Result<void> add_group(const std::string& name, const event::EventGroup& group, const event::Sources& sources,
                       const GroupLists& lists) {
  std::vector<std::string> missing;
  bool any = group.optional.empty();
  for (const std::string& list : group.optional) {
    int braces = 0;
    const auto items = event::split_list(list, braces);
    if (!items) return fail(items.error());
    for (const event::Item& item : *items) {
      const auto event = event::parse(item.text, sources);
      any = any || event;
      if (event) {
        lists.events.push_back(item.text);
        continue;
      }
      missing.push_back(item.text);
    }
  }
  if (!any) lists.events.push_back(missing.front());
  if (missing.size() > (any ? 0 : 1))
    lists.notes.push_back(fmt::format("group {}: this machine lacks {}", name, join(missing, ", ")));
  lists.events.insert(lists.events.end(), group.events.begin(), group.events.end());
  for (const std::string& metric : group.metrics)
    if (std::none_of(missing.begin(), missing.end(),
                     [&](const std::string& name) { return metric.find(name) != std::string::npos; }))
      lists.metrics.push_back(metric);
  return {};
}

}  // namespace

Result<void> add_groups(const std::string& names, const event::Sources& sources, const GroupLists& lists) {
  const auto groups = all_groups();
  if (!groups) return fail(groups.error());
  for (const std::string& name : split(names, ',')) {
    const auto match = std::find_if(groups->begin(), groups->end(),
                                    [&](const auto& group) { return lower(group.first) == lower(name); });
    if (match == groups->end()) return fail(unknown_group(name, *groups));
    const auto group = parse_named(match->first, match->second);
    if (!group) return fail(group.error());
    if (const auto added = add_group(match->first, *group, sources, lists); !added)
      return fail(Code::bad_usage, fmt::format("group {}: {}", match->first, added.error().message),
                  added.error().hint);
  }
  return {};
}

Result<std::string> group_list() {
  const auto groups = all_groups();
  if (!groups) return fail(groups.error());
  std::string text;
  for (const auto& [name, content] : *groups) {
    const auto group = parse_named(name, content);
    if (!group) {
      text += output::hanging(printable(name) + ": ", "not usable: " + group.error().message);
      continue;
    }
    text += output::hanging(printable(name) + ": ", printable(group->what));
    if (!group->events.empty()) text += output::hanging("  events   ", printable(join(group->events, ", ")));
    for (const std::string& list : group->optional)
      text += output::hanging("  optional ", printable(join(split(list, ','), ", ")));
    for (const std::string& metric : group->metrics) text += output::hanging("  metric   ", printable(metric));
  }
  return text + "\n`tally stat --group NAME` counts one. Files NAME.txt in " +
         (folder_of_user().empty() ? "$XDG_CONFIG_HOME/tally/groups" : printable(folder_of_user())) +
         " are groups, too.\n";
}

}  // namespace tally::cli
