// Topics of `tally help`: each describes a group of options, for all commands that have it.
#pragma once

#include <string>

#include "tally/tools/command/command.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::command {

/// The list of topics in `tally help`: "  running    set how the program is run".
std::string topic_list();

/// The text of `tally help TOPIC`: which commands have the options, what they mean, and the group's text.
std::string topic_text(Commands commands, const OptionGroup& group);

}  // namespace tally::command
