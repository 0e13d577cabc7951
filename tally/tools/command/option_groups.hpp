// Topics of `tally help TOPIC`. A topic describes a group of options, for all commands that have them, or a subject
// that is common to them; the help of a command lists only the names of these options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/tools/command/command_page.hpp"

namespace tally::command {

struct OptionGroup {
  std::string_view name;     ///< the topic: `tally help running`
  std::string_view summary;  ///< what the options do: "set how the program is run"
  std::string_view text;     ///< what the topic prints after the options, or alone, in the form of a page's footer
};

extern const OptionGroup attaching_group;
extern const OptionGroup code_group;
extern const OptionGroup counting_group;
extern const OptionGroup files_group;
extern const OptionGroup models_group;
extern const OptionGroup output_group;
extern const OptionGroup regions_group;
extern const OptionGroup results_group;
extern const OptionGroup running_group;

/// Subjects without options.
extern const OptionGroup trust_topic;
extern const OptionGroup exit_topic;

/// All groups, in the order of the help.
std::span<const OptionGroup* const> option_groups();

/// The group of this name; null if there is none.
const OptionGroup* find_group(std::string_view name);

/// Their names.
std::vector<std::string> topic_names();

/// While it exists, options that are added to the page belong to the group.
class GroupScope {
 public:
  GroupScope(Page& page, const OptionGroup& group) : page_(page), before_(page.set_group(&group)) {}
  ~GroupScope() { page_.set_group(before_); }
  GroupScope(const GroupScope&) = delete;
  GroupScope& operator=(const GroupScope&) = delete;

 private:
  Page& page_;
  const OptionGroup* before_;
};

}  // namespace tally::command
