// Man pages, from the same data as --help. The build runs the built command to print them.
#pragma once

#include <string>

#include "tally/tools/command/command_description.hpp"

namespace tally::manual {

/// The man page tally-NAME(1) of a command, or tally(1) for an empty name, in groff's syntax; empty for an unknown
/// command.
std::string man_page(command::Commands commands, const std::string& name);

}  // namespace tally::manual
