// Man pages and the bash completion, from the same data as --help. The build runs the built command to print them.
#pragma once

#include <string>

namespace tally::cli {

/// The man page tally-NAME(1) of a command, or tally(1) for an empty name, in groff's syntax; empty for an unknown
/// command.
std::string manual(const std::string& name);

/// The completion script for bash.
std::string bash_completion();

}  // namespace tally::cli
