// Man pages, from the same data as --help. The build runs the built command to print them.
#pragma once

#include <string>

#include "tally/tools/command/command.hpp"

namespace tally::command {

/// The man page tally-NAME(1) of a command, or tally(1) for an empty name, in groff's syntax; empty for an unknown
/// command.
std::string manual(Commands commands, const std::string& name);

}  // namespace tally::command
