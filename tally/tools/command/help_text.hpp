// How options and texts are printed in the help of a command or topic.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/command/command_page.hpp"

namespace tally::command {

/// Names and texts of options or positional arguments below a heading; empty if there are none.
std::string option_entries(const std::vector<OptionDescription>& options, const char* heading);

/// The names of options in groups, one entry for each group, below a heading; empty if there are none.
std::string group_entries(const std::vector<OptionDescription>& options);

/// Wraps the paragraphs of a footer for the terminal; indented lines stay unchanged.
std::string paragraphs(const std::string& footer);

}  // namespace tally::command
